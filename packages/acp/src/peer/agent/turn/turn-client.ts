// Implements the client of a turn: its files and terminals are used by requests that end with the turn.

import type { ClientCapabilities } from "../../../edition/agent-edition.ts";
import type { Implementation } from "../../../model/content.ts";
import type { Files, TerminalHandle, Terminals } from "../../../model/services.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
import { clientFiles } from "./client-files.ts";
import type { AskClient, ClientServices } from "./client-services.ts";
import { clientTerminals } from "./client-terminals.ts";
import type { TurnClient } from "./turn.ts";

const defaultTimeoutMs = 60_000;

export class ServedTurnClient implements TurnClient {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  readonly files: Files | undefined;
  readonly terminals: Terminals | undefined;
  readonly #updates: SessionUpdates;
  readonly #signal: AbortSignal;
  readonly #open = new Set<TerminalHandle>();
  #isClosed = false;

  constructor(updates: SessionUpdates, turnSignal: AbortSignal, clientTimeoutMs = defaultTimeoutMs) {
    const { sessionId, sender } = updates;
    const { info, capabilities } = sender.client;
    this.#updates = updates;
    this.#signal = turnSignal;
    this.info = info;
    this.capabilities = capabilities;
    const { readTextFile: readFiles, writeTextFile: writeFiles, terminal: terminals } = capabilities;
    // requests are given up with the turn, except those that end a terminal
    const ask: AskClient = (method, params, signal, receive) => {
      const ends = method === "terminal/kill" || method === "terminal/release";
      if (!ends) this.#checkOpen();
      // a command takes its time; a client that hangs must not hold the turn for ever
      const timeoutMs = method === "terminal/wait_for_exit" ? undefined : clientTimeoutMs;
      const until = ends ? signal : either(turnSignal, signal);
      return updates.sender.request(method, params, { signal: until, timeoutMs, receive });
    };
    const services: ClientServices = {
      sessionId,
      ask,
      get dialect() {
        return updates.sender.dialect;
      },
      get terminalOutput() {
        return updates.sender.terminalOutput;
      },
    };
    this.files =
      readFiles || writeFiles ? clientFiles(services, { read: readFiles, write: writeFiles }) : undefined;
    this.terminals = terminals
      ? clientTerminals(services, {
          created: (terminal) => this.#created(terminal),
          released: (terminal) => this.#released(terminal),
        })
      : undefined;
  }

  /** Takes no more requests, and releases the terminals that the turn did not release. */
  close(): void {
    this.#isClosed = true;
    for (const terminal of this.#open) terminal.release().catch(() => undefined);
  }

  #checkOpen(): void {
    if (this.#isClosed)
      throw new Error(
        "the turn has ended: turn.client sends nothing any more; await it in the prompt handler",
      );
  }

  #created(terminal: TerminalHandle): void {
    this.#open.add(terminal);
    // the turn ended while the command was being started
    if (this.#isClosed) terminal.release().catch(() => undefined);
    this.#updates.output.addClientTerminal(terminal.terminalId);
  }

  #released(terminal: TerminalHandle): void {
    this.#open.delete(terminal);
    this.#updates.work.released(terminal.terminalId);
  }

  request(
    method: `_${string}`,
    params?: unknown,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<unknown> {
    this.#checkOpen();
    return this.#updates.sender.requestExtension(method, params, { signal: either(this.#signal, signal) });
  }
}

function either(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  return second === undefined ? first : AbortSignal.any([first, second]);
}
