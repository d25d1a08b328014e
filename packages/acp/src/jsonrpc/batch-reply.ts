// Collects the answers to a batch and sends them as one array after the last one.

import type { ConnectionLimits, Log } from "./connection-options.ts";
import { errorCodes } from "./error-kinds.ts";
import type { RunningRequest } from "./inbound-requests.ts";
import { idToJson } from "./message-id.ts";

/** An answer of so many characters is always kept: an error in its place would hardly be shorter. */
const shortAnswer = 256;

/** The state that all batches of a connection share. */
export interface BatchHost {
  readonly limits: Pick<ConnectionLimits, "maxBatchAnswerBytes" | "maxHeldBatchBytes">;
  readonly log: Log;
  /** Characters of all answers that wait for the rest of their batch. */
  heldSize: number;
  /** Throws when nothing could be sent. */
  send(replies: readonly object[], text: string): void;
}

export class BatchReply {
  /** Whether to answer the requests of this batch with RequestError "rate_limited", because too many answers are waiting. */
  readonly refusesRequests: boolean;
  readonly #host: BatchHost;
  readonly #waiting = new Set<RunningRequest>();
  #answered: RunningRequest[] = [];
  #replies: object[] = [];
  #texts: string[] = [];
  #size = 0;
  #sealed = false;

  constructor(host: BatchHost) {
    this.#host = host;
    this.refusesRequests = host.heldSize >= host.limits.maxHeldBatchBytes;
  }

  /** The answers that wait for the rest. */
  get answers(): readonly string[] {
    return this.#texts;
  }

  /** Registers a request of this batch. */
  expect(request: RunningRequest): void {
    this.#waiting.add(request);
  }

  /** Takes the answer to an expected request and ignores a second one. Throws when it cannot be serialised. */
  answer(request: RunningRequest, reply: object, given?: string): void {
    // serialised here, so that one bad result cannot spoil the answers of its batch
    const text = given ?? JSON.stringify(reply);
    if (!this.#waiting.delete(request)) return;
    this.#answered.push(request);
    if (this.#hasRoomFor(text.length)) this.#keep(reply, text);
    else {
      const tooMuch = bareError(request, "limit_exceeded", "the answers of this batch are too large", {
        reason: "limit_exceeded",
      });
      this.#keep(tooMuch, JSON.stringify(tooMuch));
    }
    this.#sendWhenWhole();
  }

  /** Takes an answer to an entry that is not a valid request. */
  add(reply: object): void {
    const text = JSON.stringify(reply);
    // ten thousand equal errors take the memory of one
    const last = this.#texts.length - 1;
    const lastReply = this.#replies[last];
    const lastText = this.#texts[last];
    if (lastReply !== undefined && lastText === text) this.#keep(lastReply, lastText);
    else this.#keep(reply, text);
  }

  /** Called after the last entry was read. */
  seal(): void {
    this.#sealed = true;
    this.#sendWhenWhole();
  }

  #hasRoomFor(size: number): boolean {
    if (size <= shortAnswer) return true;
    const { maxBatchAnswerBytes, maxHeldBatchBytes } = this.#host.limits;
    if (this.#size + size > maxBatchAnswerBytes) return false;
    const completes = this.#sealed && this.#waiting.size === 0;
    return completes || this.#host.heldSize + size <= maxHeldBatchBytes;
  }

  #keep(reply: object, text: string): void {
    this.#replies.push(reply);
    this.#texts.push(text);
    // plus a comma or a bracket
    this.#size += text.length + 1;
    this.#host.heldSize += text.length + 1;
  }

  #sendWhenWhole(): void {
    if (!this.#sealed || this.#waiting.size > 0 || this.#replies.length === 0) return;
    const host = this.#host;
    const replies = this.#replies;
    const texts = this.#texts;
    const answered = this.#answered;
    this.#host.heldSize -= this.#size;
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

  #sendBareErrors(answered: readonly RunningRequest[]): void {
    const host = this.#host;
    const errors = answered.map((request) => bareError(request, "internal_error", "internal error"));
    if (errors.length === 0) return;
    try {
      host.send(errors, JSON.stringify(errors));
    } catch (error) {
      host.log("error", "the errors of a batch could not be sent", { entries: errors.length, error });
    }
  }
}

function bareError(
  request: RunningRequest,
  kind: keyof typeof errorCodes,
  message: string,
  data?: object,
): object {
  const code = errorCodes[kind];
  return { jsonrpc: "2.0", id: idToJson(request.id), error: { code, message, data } };
}
