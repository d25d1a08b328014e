// The answer to one batch: an array that leaves when its last request has been answered (B5), or
// never, when nothing in it asked for an answer (B6). Until then its answers are held as text, and what
// is held is counted: per batch, and for all batches of the connection together.

import { rpcCodes } from "./errors.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { ConnectionLimits } from "./limits.ts";
import type { Log } from "./log.ts";
import { idToJson } from "./message-id.ts";

/** Characters of an answer that is always kept: the error in its place would hardly be shorter. */
const shortAnswer = 256;

export interface BatchHost {
  readonly limits: Pick<ConnectionLimits, "maxBatchAnswerBytes" | "maxHeldBatchBytes">;
  readonly log: Log;
  /** May throw: then nothing has been sent. */
  send(replies: readonly object[], text: string): void;
}

/** The batches of one connection, and what they hold together. */
export class HeldBatches {
  readonly host: BatchHost;
  /** Characters of answers that wait for the rest of their batch. */
  size = 0;

  constructor(host: BatchHost) {
    this.host = host;
  }

  /** A new batch. While too much is held its requests are refused, so that it leaves at once. */
  open(): BatchReply {
    return new BatchReply(this, this.size >= this.host.limits.maxHeldBatchBytes);
  }
}

export class BatchReply {
  /** Requests of this batch are to be answered -32065. */
  readonly refusesRequests: boolean;
  readonly #all: HeldBatches;
  readonly #waiting = new Set<IncomingRequest>();
  #answered: IncomingRequest[] = [];
  #replies: object[] = [];
  #texts: string[] = [];
  #size = 0;
  #sealed = false;

  constructor(all: HeldBatches, refusesRequests: boolean) {
    this.#all = all;
    this.refusesRequests = refusesRequests;
  }

  /** A request of this batch has started. */
  expect(request: IncomingRequest): void {
    this.#waiting.add(request);
  }

  /** The answer to a request that was expected; a second one is ignored. Throws when it cannot be serialised. */
  answer(request: IncomingRequest, reply: object): void {
    // serialised here, so that one bad result cannot spoil the answers of its batch
    const text = JSON.stringify(reply);
    if (!this.#waiting.delete(request)) return;
    this.#answered.push(request);
    if (this.#hasRoomFor(text.length)) this.#keep(reply, text);
    else {
      const tooMuch = bareError(request, rpcCodes.limitExceeded, "the answers of this batch are too large", {
        reason: "limit_exceeded",
      });
      this.#keep(tooMuch, JSON.stringify(tooMuch));
    }
    this.#sendWhenWhole();
  }

  /** An answer to an entry that never became a request. */
  add(reply: object): void {
    const text = JSON.stringify(reply);
    // ten thousand equal mistakes are held once
    const last = this.#texts.length - 1;
    const lastReply = this.#replies[last];
    const lastText = this.#texts[last];
    if (lastReply !== undefined && lastText === text) this.#keep(lastReply, lastText);
    else this.#keep(reply, text);
  }

  /** Every entry has been looked at. */
  seal(): void {
    this.#sealed = true;
    this.#sendWhenWhole();
  }

  #hasRoomFor(size: number): boolean {
    if (size <= shortAnswer) return true;
    const { maxBatchAnswerBytes, maxHeldBatchBytes } = this.#all.host.limits;
    if (this.#size + size > maxBatchAnswerBytes) return false;
    const completes = this.#sealed && this.#waiting.size === 0;
    return completes || this.#all.size + size <= maxHeldBatchBytes;
  }

  #keep(reply: object, text: string): void {
    this.#replies.push(reply);
    this.#texts.push(text);
    // a comma or a bracket goes with each
    this.#size += text.length + 1;
    this.#all.size += text.length + 1;
  }

  #sendWhenWhole(): void {
    if (!this.#sealed || this.#waiting.size > 0 || this.#replies.length === 0) return;
    const { host } = this.#all;
    const replies = this.#replies;
    const texts = this.#texts;
    const answered = this.#answered;
    this.#all.size -= this.#size;
    this.#size = 0;
    this.#replies = [];
    this.#texts = [];
    this.#answered = [];
    try {
      host.send(replies, `[${texts.join(",")}]`);
    } catch (error) {
      host.log("error", "the answers of a batch could not be sent", { entries: replies.length, error });
      this.#sendBareErrors(answered);
    }
    for (const request of answered) request.runAfterReply();
  }

  #sendBareErrors(answered: readonly IncomingRequest[]): void {
    const { host } = this.#all;
    const errors = answered.map((request) => bareError(request, rpcCodes.internalError, "internal error"));
    if (errors.length === 0) return;
    try {
      host.send(errors, JSON.stringify(errors));
    } catch (error) {
      host.log("error", "a batch cannot be answered at all", { entries: errors.length, error });
    }
  }
}

function bareError(request: IncomingRequest, code: number, message: string, data?: object): object {
  return { jsonrpc: "2.0", id: idToJson(request.id), error: { code, message, data } };
}
