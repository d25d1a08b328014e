// Counts, logs and answers invalid input, at a limited rate.

import type { BatchReply } from "./batch-reply.ts";
import type { ConnectionCounters, ConnectionLimits, ConnectionOptions, Log } from "./connection-options.ts";
import { errorCodes } from "./error-kinds.ts";
import { ConnectionError } from "./errors.ts";
import { type EnvelopeHead, idToJson, type RequestId } from "./message-id.ts";
import type { Fault } from "./transport.ts";
import { describeFault, faultError, readUnread, type WireError } from "./unread-frame.ts";

export function nullIdError(error: WireError): object {
  return { jsonrpc: "2.0", id: null, error };
}

export function invalidRequest(message: string, path: string, reason = "invalid_request"): WireError {
  return {
    code: errorCodes.invalid_request,
    message: `invalid request: ${message}`,
    data: path === "" ? { reason } : { reason, path },
  };
}

/** Why these entries are not read as a batch, or undefined. */
export function batchProblem(
  entries: readonly unknown[],
  batches: ConnectionOptions["batches"],
  { maxBatchEntries }: Pick<ConnectionLimits, "maxBatchEntries">,
): WireError | undefined {
  if (batches === "reject")
    return invalidRequest("batches are not accepted here, send one message at a time", "");
  if (entries.length === 0) return invalidRequest("a batch must have at least one entry", "");
  if (entries.length <= maxBatchEntries) return undefined;
  const message = `a batch may have ${maxBatchEntries} entries, got ${entries.length}`;
  return { code: errorCodes.limit_exceeded, message, data: { reason: "limit_exceeded" } };
}

export interface InvalidInputHost {
  readonly counters: ConnectionCounters;
  readonly limits: ConnectionLimits;
  readonly log: Log;
  readonly skipNoise: boolean;
  send(message: object): void;
  /** Whether a request with this id has not been answered yet. */
  isRunning(id: RequestId): boolean;
  /** Rejects the pending request with this id. */
  failPending(id: unknown, error: ConnectionError): boolean;
  /** Whether a request of ours waits for an answer. */
  awaitsAnswers(): boolean;
  /** Ends the connection. */
  giveUp(error: ConnectionError): void;
}

const nothingRead: EnvelopeHead = { asks: false, answers: false };

/** Further invalid input is only counted. */
const maxLogLinesPerSecond = 100;

/** Does not match `[20:51:04] starting` or `{ a: 1 }`, which programs print. */
const beginsLikeMessage = /^\s*(?:\[\s*)?\{\s*(?:["}]|$)/;

export class InvalidInput {
  /** Set by the first valid message: from then on, lines that are not JSON never close the connection. */
  sawGoodMessage = false;
  readonly #host: InvalidInputHost;
  /** The current second, for which the following are counted. */
  #second = 0;
  #sent = 0;
  #refused = 0;
  #logged = 0;

  constructor(host: InvalidInputHost) {
    this.#host = host;
  }

  callWithOutcome(batch: BatchReply | undefined): void {
    this.message(invalidRequest("a request must not have a result or an error", "/method"), batch);
  }

  emptyMessage(batch: BatchReply | undefined): void {
    this.message(invalidRequest("a message must have a method, a result or an error", "/method"), batch);
  }

  duplicateId(batch: BatchReply | undefined): void {
    const what = "the id is in use by a request that is still running";
    this.message(invalidRequest(what, "/id", "duplicate_id"), batch);
  }

  /** Refuses a message that is JSON but not JSON-RPC. */
  message(error: WireError, batch?: BatchReply): void {
    const { counters, log } = this.#host;
    counters.refused++;
    this.#startSecond();
    if (this.#logged++ < maxLogLinesPerSecond) {
      log("warn", "refused a message", { code: error.code, ...error.data });
    }
    if (batch !== undefined) return batch.add(nullIdError(error));
    this.#sendLimited(nullIdError(error));
    this.#giveUpWhenTooMany();
  }

  /** Refuses JSON that is not an object; on an agent's stdout it is skipped as printed text. */
  notAnObject(text: string, batch: BatchReply | undefined): void {
    if (this.#host.skipNoise && batch === undefined) this.#noise(text, text.length);
    else this.message(invalidRequest("a message must be an object", ""), batch);
  }

  /** Refuses a frame that the transport could not read. */
  frame(fault: Fault): void {
    const { counters, log, skipNoise } = this.#host;
    this.#startSecond();
    if (skipNoise && fault.kind !== "too_deep" && !beginsLikeMessage.test(fault.head)) {
      return this.#noise(fault.head, fault.bytes);
    }
    counters.refused++;
    if (this.#logged++ < maxLogLinesPerSecond) {
      log("warn", "refused a frame", { kind: fault.kind, bytes: fault.bytes });
    }
    if (!fault.isCutOff) this.#answerFault(fault);
    this.#giveUpWhenTooMany();
  }

  #answerFault(fault: Fault): void {
    const isTooMuch = fault.kind === "too_large" || fault.kind === "too_deep";
    const { id, asks, answers } = isTooMuch || this.#host.awaitsAnswers() ? readUnread(fault) : nothingRead;
    if (answers && id !== undefined) {
      const kind = isTooMuch ? "too_large" : "protocol";
      const what = `the peer's answer cannot be read: it is ${describeFault(fault)}`;
      if (this.#host.awaitsAnswers() && this.#host.failPending(id, new ConnectionError(kind, what))) return;
      // a response gets no response
      if (isTooMuch) return;
    }
    // an error with the id of a running request would be taken for its answer
    const isRequest = isTooMuch && asks && id !== undefined && this.#mayAnswer(id);
    const error = faultError(fault, isRequest);
    if (isRequest) this.#host.send({ jsonrpc: "2.0", id: idToJson(id), error });
    else this.#sendLimited(nullIdError(error));
  }

  #mayAnswer(id: RequestId): boolean {
    const { limits, isRunning } = this.#host;
    return !(typeof id === "string" && id.length > limits.maxIdLength) && !isRunning(id);
  }

  #noise(head: string, bytes: number): void {
    const { counters, limits, log, giveUp } = this.#host;
    counters.noise++;
    this.#startSecond();
    if (this.#logged++ < maxLogLinesPerSecond) {
      log("warn", "skipped a line that is not a message", { bytes, line: quoted(head.slice(0, 200)) });
    }
    if (this.sawGoodMessage || counters.noise < limits.maxNoiseLines) return;
    const what = `the peer wrote ${counters.noise} lines and no message`;
    giveUp(new ConnectionError("protocol", `${what}: is it an agent that speaks ACP on stdout?`));
  }

  #sendLimited(message: object): void {
    if (this.#sent++ < this.#host.limits.maxNullIdErrorsPerSecond) this.#host.send(message);
    else this.#host.counters.unsentErrors++;
  }

  #startSecond(): void {
    const second = Math.floor(performance.now() / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#sent = 0;
    this.#refused = 0;
    this.#logged = 0;
  }

  #giveUpWhenTooMany(): void {
    const { maxRefusedPerSecond } = this.#host.limits;
    if (++this.#refused <= maxRefusedPerSecond) return;
    const what = `the peer sent over ${maxRefusedPerSecond} invalid messages in one second`;
    this.#host.giveUp(new ConnectionError("protocol", what));
  }
}

/** Quotes text as JSON and escapes control and bidirectional characters. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
