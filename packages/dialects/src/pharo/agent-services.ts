// What our agent asks of a client of the dialect: files, terminals and permission. Each needs the client's capability.

import { withDetails, withMetaKeys, withoutMeta } from "../exchange/details.ts";
import type { Answer, Call, Exchange, Fields, Handler } from "../exchange/exchange.ts";
import { metaField } from "../exchange/exchange.ts";
import {
  encodingKey,
  isObject,
  optional,
  overwriteKey,
  signalKey,
  timedOutKey,
  timeoutKey,
} from "../exchange/library.ts";
import { refusal } from "../exchange/refusals.ts";
import type { ClientCapabilities } from "../wire/pharo/types.gen.ts";
import { exitStatusOf, wholeWait } from "./exit-codes.ts";
import { terminalFlags } from "./introduction.ts";
import { decisionToV1, questionToPharo } from "./permission.ts";
import { listToMap } from "./servers.ts";

interface Terminal {
  readonly limit: number | undefined;
  stopTimer(): void;
}

/** Handles what our agent asks for. */
export function handleServices(
  exchange: Exchange,
  can: () => ClientCapabilities,
  titleOf: (sessionId: unknown, toolCallId: unknown) => string | undefined,
): void {
  new AgentServices(exchange, can, titleOf).handle();
}

class AgentServices {
  readonly #exchange: Exchange;
  readonly #can: () => ClientCapabilities;
  readonly #titleOf: (sessionId: unknown, toolCallId: unknown) => string | undefined;
  readonly #terminals = new Map<unknown, Terminal>();

  constructor(
    exchange: Exchange,
    can: () => ClientCapabilities,
    titleOf: (sessionId: unknown, toolCallId: unknown) => string | undefined,
  ) {
    this.#exchange = exchange;
    this.#can = can;
    this.#titleOf = titleOf;
  }

  handle(): void {
    this.#exchange.handle("us", {
      "session/request_permission": (params, call) => this.#permission(params, call),
      "fs/read_text_file": this.#gated((params, call) => this.#read(params, call)),
      "fs/write_text_file": this.#gated((params, call) => this.#write(params, call)),
      "terminal/create": this.#gated((params, call) => this.#create(params, call)),
      "terminal/output": this.#gated((params, call) => this.#output(params, call)),
      "terminal/wait_for_exit": this.#gated((params, call) => this.#wait(params, call)),
      "terminal/kill": this.#gated((params, call) => {
        if (metaField(params)._meta?.[signalKey] !== undefined)
          this.#exchange.lost("the signal of terminal/kill");
        call.forward(terminal(params, [signalKey]));
      }),
      "terminal/release": this.#gated((params, call) => {
        this.#terminals.get(params["terminalId"])?.stopTimer();
        this.#terminals.delete(params["terminalId"]);
        call.forward(terminal(params, []));
      }),
    });
  }

  /** An agent never calls what the client has not declared. */
  #gated(handler: Handler): Handler {
    return (params, call) => {
      const missing = this.#missing(call.method);
      if (missing === undefined) handler(params, call);
      else call.refuse(refusal("method_not_found", `${call.method}: the client has not declared ${missing}`));
    };
  }

  #missing(method: string): string | undefined {
    const { fs, terminal: flags } = this.#can();
    if (method === "fs/read_text_file") return fs?.readTextFile === true ? undefined : "fs.readTextFile";
    if (method === "fs/write_text_file") return fs?.writeTextFile === true ? undefined : "fs.writeTextFile";
    const flag = terminalFlags[method as keyof typeof terminalFlags]; // the other methods that are gated
    return flags?.[flag] === true ? undefined : `terminal.${flag}`;
  }

  #permission(params: Fields, call: Call): void {
    const { sessionId, toolCall, options } = params;
    const title = this.#titleOf(sessionId, isObject(toolCall) ? toolCall["toolCallId"] : undefined);
    call.forwardThen(questionToPharo(params, title), (answer) => {
      const decision = answer.error === undefined ? decisionToV1(answer.result, options) : answer;
      if (decision.error === undefined) call.answer(decision.result);
      else call.refuse(decision.error);
    });
  }

  #read(params: Fields, call: Call): void {
    const { sessionId, path, line, limit } = params;
    if (refusesEncoding(params, call)) return;
    call.forward({
      sessionId,
      path,
      ...optional({ startLine: line ?? undefined, lineLimit: limit ?? undefined }),
      ...withoutMeta(params, [encodingKey]),
    });
  }

  #write(params: Fields, call: Call): void {
    const { sessionId, path, content } = params;
    if (refusesEncoding(params, call)) return;
    const write = (): void =>
      call.forward({ sessionId, path, content, ...withoutMeta(params, [encodingKey, overwriteKey]) });
    if (metaField(params)._meta?.[overwriteKey] !== false) {
      write();
      return;
    }
    const missing = this.#missing("fs/read_text_file");
    if (missing !== undefined) {
      const why = "nobody can tell whether the file exists";
      call.refuse(
        refusal("method_not_found", `fs/write_text_file: ${why}: the client has not declared ${missing}`),
      );
      return;
    }
    // the dialect always replaces files, so look first
    this.#exchange.ask("peer", "fs/read_text_file", { sessionId, path, lineLimit: 1 }, (answer) => {
      if (answer.error === undefined) call.refuse(refusal("conflict", `${String(path)} exists already`));
      else if (isNotFound(answer)) write();
      else call.refuse(answer.error);
    });
  }

  #create(params: Fields, call: Call): void {
    const { sessionId, command, args, cwd, env, outputByteLimit } = params;
    const timeout = metaField(params)._meta?.[timeoutKey];
    const limit = typeof outputByteLimit === "number" ? outputByteLimit : undefined;
    const request = {
      sessionId,
      command,
      ...optional({ args: args ?? undefined, cwd: cwd ?? undefined }),
      ...(env === undefined || env === null ? {} : { env: listToMap(env) }),
      ...withoutMeta(params, [timeoutKey]),
    };
    call.forward(request, (result) => {
      const { terminalId } = result;
      const kill = (): void =>
        this.#exchange.ask("peer", "terminal/kill", { sessionId, terminalId }, () => {});
      const stops = typeof timeout === "number" && this.#missing("terminal/kill") === undefined;
      if (timeout !== undefined && !stops) this.#exchange.lost("the timeout of a terminal");
      const stopTimer = stops ? this.#exchange.later(wholeWait(timeout), kill) : () => {};
      this.#terminals.set(terminalId, { limit, stopTimer });
      return result;
    });
  }

  #output(params: Fields, call: Call): void {
    const { terminalId } = params;
    call.forward(terminal(params, []), (result) => {
      const limit = this.#terminals.get(terminalId)?.limit;
      const whole = String(result["output"]);
      const output = limit === undefined ? whole : lastBytes(whole, limit);
      const status = this.#exitStatus(terminalId, result["exitCode"]);
      const truncated = output !== whole;
      return { output, truncated, ...optional({ exitStatus: status }), ...metaField(result) };
    });
  }

  #wait(params: Fields, call: Call): void {
    const { terminalId } = params;
    const timeout = metaField(params)._meta?.[timeoutKey];
    const request = typeof timeout === "number" ? { timeout: wholeWait(timeout) } : {};
    call.forward({ ...terminal(params, [timeoutKey]), ...request }, (result) => {
      const { output, exitCode } = result;
      const status = this.#exitStatus(terminalId, exitCode);
      const answer = { ...metaField(result), exitCode: null, ...status };
      const meta = withMetaKeys(answer, { [timedOutKey]: status === undefined ? true : undefined });
      return { ...answer, ...withDetails(meta, { output }) };
    });
  }

  #exitStatus(terminalId: unknown, exitCode: unknown): Fields | undefined {
    const status = exitStatusOf(exitCode);
    if (status !== undefined) this.#terminals.get(terminalId)?.stopTimer();
    return status;
  }
}

/** A text in another encoding would be taken for the file itself. */
function refusesEncoding(params: Fields, call: Call): boolean {
  const encoding = metaField(params)._meta?.[encodingKey];
  if (encoding === undefined || encoding === "utf-8") return false;
  const what = `${call.method}: the client speaks pharo, which has no encoding but UTF-8, got ${JSON.stringify(encoding)}`;
  call.refuse(refusal("method_not_found", `${what}; use a command instead`));
  return true;
}

function terminal(params: Fields, without: readonly string[]): Fields {
  const { sessionId, terminalId } = params;
  return { sessionId, terminalId, ...withoutMeta(params, without) };
}

function isNotFound(answer: Answer): boolean {
  return answer.error?.code === -32002;
}

/** The end of a text, at most this many bytes of UTF-8, from the beginning of a character. */
function lastBytes(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= limit) return text;
  let start = bytes.length - limit;
  // the bytes that continue a character begin with 10
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return new TextDecoder().decode(bytes.subarray(start));
}
