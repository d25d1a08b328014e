// What this side does about input that never became a request: count it, log it, answer it with
// `id: null` a few times per second at most, so that a peer that sends nothing but rubbish gets no
// flood in return.

import type { BatchReply } from "./batch-reply.ts";
import type { ConnectionCounters } from "./connection-options.ts";
import { ConnectionError, rpcCodes } from "./errors.ts";
import type { ConnectionLimits } from "./limits.ts";
import type { Log } from "./log.ts";
import { idToJson, type RequestId, readEnvelopeHead } from "./message-id.ts";
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
  failPending(id: unknown, error: ConnectionError): void;
  /** The peer does not speak JSON-RPC at all. */
  giveUp(error: ConnectionError): void;
}

/** Not `[20:51:04] starting` nor `{ a: 1 }`, which programs print (N003). */
const beginsLikeMessage = /^\s*(?:\[\s*)?\{\s*(?:["}]|$)/;

export class Refusals {
  /** Set by the first message that could be read: from then on noise never closes the connection. */
  sawGoodMessage = false;
  readonly #host: RefusalsHost;
  #second = 0;
  #sentThisSecond = 0;

  constructor(host: RefusalsHost) {
    this.#host = host;
  }

  /** A message that is JSON, but not JSON-RPC. */
  message(error: WireError, batch?: BatchReply): void {
    const { counters, log } = this.#host;
    counters.refused++;
    log("warn", "refused a message", { code: error.code, ...error.data });
    if (batch === undefined) this.#sendLimited(nullIdError(error));
    else batch.add(nullIdError(error));
  }

  /** JSON that is not even an object: on an agent's stdout somebody's print, elsewhere a mistake. */
  notAnObject(text: string, batch: BatchReply | undefined): void {
    if (this.#host.skipNoise && batch === undefined) this.#noise(text, text.length);
    else this.message(invalidRequest("a message must be an object", ""), batch);
  }

  /** A frame that the transport could not read. */
  frame(fault: Fault): void {
    const { counters, log, skipNoise } = this.#host;
    if (skipNoise && fault.kind !== "too_deep" && !beginsLikeMessage.test(fault.head)) {
      return this.#noise(fault.head, fault.bytes);
    }
    counters.refused++;
    log("warn", "refused a frame", { kind: fault.kind, bytes: fault.bytes });
    if (!fault.cutOff) this.#answerFault(fault);
  }

  #answerFault(fault: Fault): void {
    if (fault.kind === "parse" || fault.kind === "utf8") {
      const what = fault.kind === "utf8" ? "the text is not valid UTF-8" : "the text is not JSON";
      const error = {
        code: rpcCodes.parseError,
        message: `parse error: ${what}`,
        data: { reason: fault.kind },
      };
      return this.#sendLimited(nullIdError(error));
    }
    const { id, method, answers } = readEnvelopeHead(fault.head);
    const size = fault.kind === "too_large" ? `too large, ${fault.bytes} bytes` : "nested too deeply";
    if (answers && id !== undefined) {
      return this.#host.failPending(id, new ConnectionError("too_large", `the peer's answer is ${size}`));
    }
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

  #mayAnswer(id: RequestId): boolean {
    const { limits, isRunning } = this.#host;
    return !(typeof id === "string" && id.length > limits.maxIdLength) && !isRunning(id);
  }

  #noise(head: string, bytes: number): void {
    const { counters, limits, log, giveUp } = this.#host;
    counters.noise++;
    log("warn", "skipped a line that is not a message", { bytes, line: printable(head.slice(0, 200)) });
    if (this.sawGoodMessage || counters.noise < limits.maxNoiseLines) return;
    const what = `the peer wrote ${counters.noise} lines and no message`;
    giveUp(new ConnectionError("protocol", `${what}: is it an agent that speaks ACP on stdout?`));
  }

  #sendLimited(message: object): void {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#sentThisSecond = 0;
    }
    if (this.#sentThisSecond++ < this.#host.limits.maxNullIdErrorsPerSecond) this.#host.send(message);
    else this.#host.counters.unsentErrors++;
  }
}

/** As a JSON string, with nothing in it that moves a cursor, breaks a line or turns text around (N002). */
function printable(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
