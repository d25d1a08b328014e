// The answer to one batch: an array that leaves when its last request has been answered (B5), or
// never, when nothing in it asked for an answer (B6).

import type { IncomingRequest } from "./incoming-request.ts";

export class BatchReply {
  #replies: object[] = [];
  #answered: IncomingRequest[] = [];
  #open = 0;
  #sealed = false;
  #send: (replies: object[], answered: readonly IncomingRequest[]) => void;

  constructor(send: (replies: object[], answered: readonly IncomingRequest[]) => void) {
    this.#send = send;
  }

  /** A request of this batch has started. */
  expect(): void {
    this.#open++;
  }

  /** The answer to a request that was expected. */
  answer(request: IncomingRequest, reply: object): void {
    this.#open--;
    this.#replies.push(reply);
    this.#answered.push(request);
    this.#sendWhenWhole();
  }

  /** An answer to an entry that never became a request. */
  add(reply: object): void {
    this.#replies.push(reply);
  }

  /** Every entry has been looked at. */
  seal(): void {
    this.#sealed = true;
    this.#sendWhenWhole();
  }

  #sendWhenWhole(): void {
    if (this.#sealed && this.#open === 0 && this.#replies.length > 0)
      this.#send(this.#replies, this.#answered);
  }
}
