// The terminals of a dialect's client, for our agent. Their output is pushed to us; our agent asks for it.

import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import { type Exchange, type Fields, type Handler, metaField } from "../exchange/exchange.ts";
import {
  detailsKey,
  optional,
  pidKey,
  pushesOutputKey,
  RequestError,
  signalKey,
  terminalOutputMethod,
  timedOutKey,
  timeoutKey,
} from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { capabilityMissing, limitOf, refusing } from "./calls.ts";
import { booleanOf, detailText, dialectDetails, metaValue, metaWithDetails } from "./details.ts";
import { mapOf } from "./mcp.ts";
import { TerminalText } from "./terminal-text.ts";

/** Bytes of output that are kept for each terminal. */
const mostOutput = 1024 * 1024;
/** Terminals whose output is kept for showing after their release. */
const mostReleased = 16;

interface Terminal {
  readonly command: string;
  text: TerminalText;
  exit: v1.TerminalExitStatus | undefined;
  isReleased: boolean;
}

export class AgentTerminals {
  readonly #exchange: Exchange;
  readonly #can: () => scoped.TerminalCapabilities | null | undefined;
  readonly #terminals = new Map<string, Terminal>();
  /** Output that came before the answer that names its terminal. */
  readonly #early = new Map<string, TerminalText>();
  #creating = 0;

  constructor(exchange: Exchange, can: () => scoped.TerminalCapabilities | null | undefined) {
    this.#exchange = exchange;
    this.#can = can;
    exchange.handle("us", {
      "terminal/create": refusing(this.#create),
      "terminal/output": refusing(this.#output),
      "terminal/wait_for_exit": refusing(this.#wait),
      "terminal/kill": refusing(this.#kill),
      "terminal/release": refusing(this.#release),
    });
    exchange.handle("peer", { "terminal/output": refusing(this.#pushed) });
  }

  /** For tool calls that show the terminal. */
  shown(terminalId: string): Omit<scoped.TerminalOutput, "terminalId" | "_meta"> | undefined {
    const terminal = this.#terminals.get(terminalId);
    if (terminal === undefined) return undefined;
    const { command, text, exit } = terminal;
    const streams = { stdout: text.text("stdout"), stderr: text.text("stderr") };
    return { command, ...optional({ exitCode: exit?.exitCode ?? undefined }), ...streams };
  }

  readonly #create: Handler = (params, call) => {
    const { maxConcurrent, create } = this.#can() ?? {};
    if (create !== true) throw capabilityMissing("terminal.create");
    const live = [...this.#terminals.values()].filter(({ isReleased }) => !isReleased).length;
    if (maxConcurrent != null && live + this.#creating >= maxConcurrent)
      throw new RequestError(
        "limit_exceeded",
        `the client runs at most ${maxConcurrent} terminals at once: release one first`,
        { data: { reason: "limit_exceeded", maxConcurrent } },
      );
    const { command, args, env, cwd, outputByteLimit } = params as object as v1.CreateTerminalRequest; // our side's
    this.#creating += 1;
    const request = {
      command,
      ...optional({
        args: args?.length ? args : undefined,
        cwd: cwd ?? undefined,
        env: env?.length ? mapOf(env) : undefined,
        timeout: limitOf(metaValue(params, timeoutKey)),
      }),
      ...withoutMeta(params, [timeoutKey]),
    };
    call.forwardThen(request, (answer) => {
      this.#creating -= 1;
      if (answer.error !== undefined) call.refuse(answer.error);
      else call.answer(this.#created(answer.result, commandLine(command, args ?? []), outputByteLimit));
      if (this.#creating === 0) this.#early.clear();
    });
  };

  #created(result: Fields, command: string, outputByteLimit: number | null | undefined): object {
    const { terminalId, pid } = result as object as scoped.CreateTerminalResponse; // checked by its row
    const text = new TerminalText(Math.min(outputByteLimit ?? mostOutput, mostOutput));
    const early = this.#early.get(terminalId);
    this.#early.delete(terminalId);
    if (early !== undefined) text.add(early.text(), undefined);
    this.#terminals.set(terminalId, { command, text, exit: undefined, isReleased: false });
    return { terminalId, ...withMetaKeys(result, { [pidKey]: pid ?? undefined, [pushesOutputKey]: true }) };
  }

  /** Output from the client, with or without an id. A poll has no data, and only agents poll. */
  readonly #pushed: Handler = (params, call) => {
    const { terminalId, data, stream } = params as object as scoped.TerminalOutputRequest; // checked by its row
    if (data == null) {
      const message = "terminal/output: params/data must be string, got nothing";
      throw RequestError.invalidParams(message, "/data");
    }
    const terminal = this.#terminals.get(terminalId);
    const isTaken = terminal !== undefined ? !terminal.isReleased : this.#creating > 0;
    call.answer({ received: isTaken });
    if (!isTaken) return;
    if (terminal === undefined) {
      const early = this.#early.get(terminalId) ?? new TerminalText(mostOutput);
      this.#early.set(terminalId, early);
      early.add(data, undefined);
      return;
    }
    const from = stream ?? undefined;
    terminal.text.add(data, from);
    this.#exchange.notify("us", terminalOutputMethod, { terminalId, data, ...optional({ stream: from }) });
  };

  /** Answered from what was pushed. */
  readonly #output: Handler = (params, call) => {
    const { text, exit } = this.#live(params);
    const streams = text.has("stderr")
      ? { _meta: { [detailsKey]: { stdout: text.text("stdout"), stderr: text.text("stderr") } } }
      : {};
    call.answer({
      output: text.text(),
      truncated: text.isTruncated,
      ...optional({ exitStatus: exit }),
      ...streams,
    });
  };

  readonly #wait: Handler = (params, call) => {
    const terminal = this.#live(params);
    const timeout = limitOf(metaValue(params, timeoutKey));
    const request = { terminalId: params["terminalId"], ...optional({ timeout }) };
    call.forward({ ...request, ...withoutMeta(params, [timeoutKey]) }, (result) => {
      const { exitCode, signal, timedOut } = result as object as scoped.WaitForExitResponse; // checked by its row
      if (timedOut === true) return withMetaKeys(result, { [timedOutKey]: true });
      const exit = exitStatus(exitCode, signal ?? undefined);
      terminal.exit = exit;
      return { ...exit, ...withMetaKeys(exit, metaField(result)._meta ?? {}) };
    });
  };

  readonly #kill: Handler = (params, call) => {
    this.#live(params);
    const signal = detailText(metaValue(params, signalKey));
    const force = booleanOf(dialectDetails(params)?.["force"]);
    const request = { terminalId: params["terminalId"], ...optional({ signal, force }) };
    call.forward({ ...request, ...withoutMeta(params, [signalKey, detailsKey]) }, (result) =>
      metaWithDetails(result, { killed: result["killed"] }),
    );
  };

  readonly #release: Handler = (params, call) => {
    const terminal = this.#live(params);
    terminal.isReleased = true;
    this.#forget();
    call.forward({ terminalId: params["terminalId"], ...metaField(params) }, (result) =>
      metaWithDetails(result, { released: result["released"] }),
    );
  };

  #live(params: Fields): Terminal {
    const terminal = this.#terminals.get(String(params["terminalId"]));
    if (terminal !== undefined && !terminal.isReleased) return terminal;
    const message = "the client has no such terminal, or it has been released";
    throw new RequestError("not_found", message, { data: { reason: "not_found" } });
  }

  /** A tool call may show a terminal after its release, but not for ever. */
  #forget(): void {
    const released = [...this.#terminals].filter(([, { isReleased }]) => isReleased);
    for (const [terminalId] of released.slice(0, -mostReleased)) this.#terminals.delete(terminalId);
  }
}

/** What is shown of a command: what a shell runs says more than the shell. */
function commandLine(command: string, args: readonly string[]): string {
  const [flag = "", script] = args;
  const isScript =
    /(?:^|[/\\])(?:ba|z|da|k|fi)?sh$/.test(command) && /^-[a-z]*c$/.test(flag) && args.length === 2;
  return isScript && script !== undefined ? script : [command, ...args].join(" ");
}

/** Version 1 has no number below 0. The document asks for a number also where a signal ended the command. */
function exitStatus(exitCode: number, signal: string | undefined): v1.TerminalExitStatus {
  if (exitCode >= 0) return { exitCode, ...optional({ signal }) };
  const status = signal === undefined ? { exitCode: exitCode >>> 0 } : { signal };
  return { ...status, ...metaWithDetails({}, { exitCode }) };
}
