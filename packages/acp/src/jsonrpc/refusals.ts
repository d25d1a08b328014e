// What this side does about input that never became a request: count it, log it, answer it with
// `id: null` a few times per second at most, so that a peer that sends nothing but rubbish gets no
// flood in return.

import type { BatchReply } from "./batch-reply.ts";
import type { ConnectionCounters } from "./connection-options.ts";
import { ConnectionError, rpcCodes } from "./errors.ts";
import type { ConnectionLimits } from "./limits.ts";
import type { Log } from "./log.ts";
import {
  type EnvelopeHead,
  idToJson,
  type RequestId,
  readEnvelopeHead,
  readTrailingId,
} from "./message-id.ts";
import type { Fault } from "./transport.ts";

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data: { readonly reason: string; readonly path?: string };
}

export function nullIdError(error: WireError): object {
  return { jsonrpc: "2.0", id: null, error };
}

export function invalidRequest(message: string, path: string, reason = "invalid_request"): WireError {
  return {
    code: rpcCodes.invalidRequest,
    message: `invalid request: ${message}`,
    data: path === "" ? { reason } : { reason, path },
  };
}

export interface RefusalsHost {
  readonly counters: ConnectionCounters;
  readonly limits: ConnectionLimits;
  readonly log: Log;
  readonly skipNoise: boolean;
  send(message: object): void;
  /** Whether a request with this id has not been answered yet. */
  isRunning(id: RequestId): boolean;
  /** The request that this frame would have answered cannot be answered any more. */
  failPending(id: unknown, error: ConnectionError): boolean;
  /** Whether any request of ours waits for an answer. */
  awaitsAnswers(): boolean;
  /** The peer does not speak JSON-RPC at all. */
  giveUp(error: ConnectionError): void;
}

/** Lines of the log about what was refused or skipped; what is beyond is only counted. */
const maxLogLinesPerSecond = 100;

/** Not `[20:51:04] starting` nor `{ a: 1 }`, which programs print (N003). */
const beginsLikeMessage = /^\s*(?:\[\s*)?\{\s*(?:["}]|$)/;

export class Refusals {
  /** Set by the first message that could be read: from then on noise never closes the connection. */
  sawGoodMessage = false;
  readonly #host: RefusalsHost;
  /** What was counted in the current second. */
  #second = 0;
  #sent = 0;
  #refused = 0;
  #logged = 0;

  constructor(host: RefusalsHost) {
    this.#host = host;
  }

  /** A message that is JSON, but not JSON-RPC. */
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

  /** JSON that is not even an object: on an agent's stdout somebody's print, elsewhere a mistake. */
  notAnObject(text: string, batch: BatchReply | undefined): void {
    if (this.#host.skipNoise && batch === undefined) this.#noise(text, text.length);
    else this.message(invalidRequest("a message must be an object", ""), batch);
  }

  /** A frame that the transport could not read. */
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
    if (!fault.cutOff) this.#answerFault(fault);
    this.#giveUpWhenTooMany();
  }

  #answerFault(fault: Fault): void {
    if (fault.kind === "parse" || fault.kind === "utf8") {
      const what = fault.kind === "utf8" ? "the text is not valid UTF-8" : "the text is not JSON";
      if (this.#host.awaitsAnswers() && this.#failAnswered(fault, readEnvelopeHead(fault.head), what)) return;
      const error = {
        code: rpcCodes.parseError,
        message: `parse error: ${what}`,
        data: { reason: fault.kind },
      };
      return this.#sendLimited(nullIdError(error));
    }
    const found = readEnvelopeHead(fault.head);
    const { id, method } = found;
    const size = fault.kind === "too_large" ? `too large, ${fault.bytes} bytes` : "nested too deeply";
    // an answer is not answered, whether anybody waits for it or not
    if (this.#failAnswered(fault, found, `it is ${size}`) || (found.answers && id !== undefined)) return;
    const data = { reason: fault.kind };
    // an error under the id of another request would be taken for that one's answer
    if (id === undefined || method === undefined || !this.#mayAnswer(id)) {
      return this.#sendLimited(
        nullIdError({ code: rpcCodes.invalidRequest, message: `message ${size}`, data }),
      );
    }
    const code = fault.kind === "too_deep" ? rpcCodes.invalidParams : rpcCodes.invalidRequest;
    this.#host.send({ jsonrpc: "2.0", id: idToJson(id), error: { code, message: `message ${size}`, data } });
  }

  /** The request that this frame would have answered must not wait for ever. False when there is none. */
  #failAnswered(fault: Fault, { answers, id: first }: EnvelopeHead, what: string): boolean {
    if (!answers || !this.#host.awaitsAnswers()) return false;
    const id = first ?? (fault.tail === undefined ? undefined : readTrailingId(fault.tail));
    if (id === undefined) return false;
    const kind = fault.kind === "too_large" || fault.kind === "too_deep" ? "too_large" : "protocol";
    return this.#host.failPending(id, new ConnectionError(kind, `the peer's answer cannot be read: ${what}`));
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

  /** Reading rubbish costs more than sending it: a peer that sends nothing else is not worth it. */
  #giveUpWhenTooMany(): void {
    const { maxRefusedPerSecond } = this.#host.limits;
    if (++this.#refused <= maxRefusedPerSecond) return;
    const what = `the peer sent over ${maxRefusedPerSecond} messages in a second that cannot be read`;
    this.#host.giveUp(new ConnectionError("protocol", what));
  }
}

/** As a JSON string, with nothing in it that moves a cursor, breaks a line or turns text around (N002). */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
