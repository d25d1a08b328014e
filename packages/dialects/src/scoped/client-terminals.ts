// Our client's terminals, for a dialect's agent. Version 1 is asked for output; the dialect is given it.

import type * as v1 from "@parley/acp/v1";
import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import {
  type Answer,
  type Call,
  type Exchange,
  type Fields,
  type Handler,
  metaField,
} from "../exchange/exchange.ts";
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
import { countOf, dialectDetails, metaValue, metaWithDetails, numberOf } from "./details.ts";
import { pairsOf } from "./mcp.ts";
import { PushedOutput } from "./pushed-output.ts";

export interface ClientTurn {
  readonly sessionId: string;
  /** The path, from the session's working directory where it is relative. */
  readonly resolve: (path: string) => string;
}

/** So many ids of released terminals are kept: an agent may release any number. */
const mostReleased = 10_000;

interface Terminal {
  readonly sessionId: string;
  readonly output: PushedOutput;
  stopTimer: () => void;
  /** The signal that the agent has asked for. */
  killedBy?: string | undefined;
}

export class ClientTerminals {
  readonly #exchange: Exchange;
  readonly #offered: () => scoped.TerminalCapabilities | null | undefined;
  /** The running turn. Throws where there is not exactly one. */
  readonly #turn: () => ClientTurn;
  readonly #terminals = new Map<string, Terminal>();
  readonly #released = new Set<string>();
  #creating = 0;

  constructor(
    exchange: Exchange,
    offered: () => scoped.TerminalCapabilities | null | undefined,
    turn: () => ClientTurn,
  ) {
    this.#exchange = exchange;
    this.#offered = offered;
    this.#turn = turn;
    exchange.handle("peer", {
      "terminal/create": refusing(this.#create),
      "terminal/output": refusing(this.#poll),
      "terminal/wait_for_exit": refusing(this.#wait),
      "terminal/kill": refusing(this.#kill),
      "terminal/release": refusing(this.#release),
    });
    exchange.handle("us", {
      [terminalOutputMethod]: (params) => {
        const { terminalId, data, stream } = params as object as scoped.TerminalOutputRequest; // our side's
        this.#terminals.get(terminalId)?.output.add(data ?? "", stream ?? undefined);
      },
    });
  }

  /** Whether our side shows the terminal itself: it goes on with that after the release. */
  isShown(terminalId: string): boolean {
    return this.#terminals.has(terminalId) || this.#released.has(terminalId);
  }

  readonly #create: Handler = (params, call) => {
    const { create, maxConcurrent } = this.#offered() ?? {};
    if (create !== true) throw capabilityMissing("terminal.create");
    if (maxConcurrent != null && this.#terminals.size + this.#creating >= maxConcurrent)
      throw new RequestError(
        "rate_limited",
        `this client runs at most ${maxConcurrent} terminals at once: release one first`,
        { data: { reason: "rate_limited", maxConcurrent } },
      );
    const { command, args, cwd, env, timeout } = params as object as scoped.CreateTerminalRequest; // checked
    const { sessionId, resolve } = this.#turn();
    this.#creating += 1;
    const request = {
      sessionId,
      command,
      ...optional({
        args: args ?? undefined,
        env: env == null ? undefined : pairsOf(env),
        cwd: cwd == null ? undefined : resolve(cwd),
      }),
      ...withMetaKeys(params, { [timeoutKey]: timeout ?? undefined }),
    };
    call.forwardThen(request, (answer) => {
      this.#creating -= 1;
      if (answer.error !== undefined) return call.refuse(answer.error);
      this.#created(answer.result, { sessionId, limit: limitOf(timeout) }, call);
    });
  };

  #created(
    result: Fields,
    { sessionId, limit }: { sessionId: string; limit: number | undefined },
    call: Call,
  ): void {
    const { terminalId } = result as object as v1.CreateTerminalResponse; // our side's
    const pid = countOf(metaValue(result, pidKey));
    call.answer({ terminalId, ...optional({ pid }), ...withoutMeta(result, [pidKey, pushesOutputKey]) });
    const pushes = metaValue(result, pushesOutputKey) === true;
    const output = new PushedOutput(this.#exchange, { sessionId, terminalId });
    const kill = (): void =>
      this.#exchange.ask("us", "terminal/kill", { sessionId, terminalId }, () => undefined);
    const stopTimer = limit === undefined ? () => undefined : this.#exchange.later(limit, kill);
    this.#terminals.set(terminalId, { sessionId, output, stopTimer });
    if (!pushes) output.beginPolling();
  }

  /** The document has no such request. An agent that asks is answered with all that is kept. */
  readonly #poll: Handler = (params, call) => {
    const { terminalId, data } = params as object as scoped.TerminalOutputRequest; // checked by its row
    if (data != null) {
      const message =
        "terminal/output: params/data must be absent: a client sends output, an agent asks for it";
      throw RequestError.invalidParams(message, "/data");
    }
    const { sessionId } = this.#known(terminalId);
    call.forward({ sessionId, terminalId, ...metaField(params) }, (result) => {
      const { output, truncated, exitStatus } = result as object as v1.TerminalOutputResponse; // our side's
      const exitCode = exitStatus == null ? undefined : exitCodeOf(exitStatus);
      return {
        received: true,
        output,
        truncated,
        ...optional({ exitCode }),
        ...withoutMeta(result, [detailsKey]),
      };
    });
  };

  /** Answered when the command has ended, or the time is over, and all output before that has been taken. */
  readonly #wait: Handler = (params, call) => {
    const { terminalId, timeout } = params as object as scoped.WaitForExitRequest; // checked by its row
    const terminal = this.#known(terminalId);
    const limit = limitOf(timeout);
    let isOver = false;
    const stop =
      limit === undefined
        ? () => undefined
        : this.#exchange.later(limit, () => {
            isOver = true;
            call.cancelForwarded();
            terminal.output.drain(() => call.answer({ exitCode: -1, timedOut: true }));
          });
    const keys = { [timeoutKey]: timeout ?? undefined };
    const request = { sessionId: terminal.sessionId, terminalId, ...withMetaKeys(params, keys) };
    call.forwardThen(request, (answer) => {
      if (isOver) return;
      stop();
      terminal.output.drain(() => this.#waited(answer, terminal, call));
    });
  };

  #waited(answer: Answer, terminal: Terminal, call: Call): void {
    if (answer.error !== undefined) return call.refuse(answer.error);
    const { result } = answer;
    if (metaValue(result, timedOutKey) === true)
      return call.answer({ exitCode: -1, timedOut: true, ...withoutMeta(result, [timedOutKey]) });
    terminal.stopTimer();
    const { signal, exitCode } = result as object as v1.WaitForTerminalExitResponse; // our side's
    const told = signal ?? (exitCode === shellCode(terminal.killedBy) ? terminal.killedBy : undefined);
    const rest = { ...optional({ signal: told }), ...withoutMeta(result, [detailsKey]) };
    call.answer({ exitCode: exitCodeOf(result), ...rest });
  }

  readonly #kill: Handler = (params, call) => {
    const { terminalId, signal, force } = params as object as scoped.KillTerminalRequest; // checked by its row
    const { sessionId } = this.#known(terminalId);
    const chosen = force === true ? "SIGKILL" : (signal ?? undefined);
    this.#known(terminalId).killedBy = chosen;
    const { _meta } = metaWithDetails(params, { force });
    const request = { sessionId, terminalId, ...withMetaKeys({ _meta }, { [signalKey]: chosen }) };
    call.forward(request, (result) => {
      const killed = dialectDetails(result)?.["killed"] !== false;
      return { killed, ...withoutMeta(result, [detailsKey]) };
    });
  };

  readonly #release: Handler = (params, call) => {
    const { terminalId } = params as object as scoped.ReleaseTerminalRequest; // checked by its row
    const { sessionId, output, stopTimer } = this.#known(terminalId);
    stopTimer();
    output.stop();
    this.#terminals.delete(terminalId);
    if (this.#released.size < mostReleased) this.#released.add(terminalId);
    call.forward({ sessionId, terminalId, ...metaField(params) }, (result) => {
      const released = dialectDetails(result)?.["released"] !== false;
      return { released, ...withoutMeta(result, [detailsKey]) };
    });
  };

  #known(terminalId: string): Terminal {
    const terminal = this.#terminals.get(terminalId);
    if (terminal !== undefined) return terminal;
    const message = "this client has no such terminal, or it has been released";
    throw new RequestError("not_found", message, { data: { reason: "not_found" } });
  }
}

/** What a shell exits with when a signal has ended its command: 128 and the number of the signal. */
function shellCode(signal: string | undefined): number | undefined {
  const number = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGTERM: 15 }[signal ?? ""];
  return number === undefined ? undefined : 128 + number;
}

/** The document wants a number also where a signal ended the command: -1. */
function exitCodeOf(status: object): number {
  const { exitCode } = status as v1.TerminalExitStatus;
  return numberOf(dialectDetails(status)?.["exitCode"]) ?? exitCode ?? -1;
}
