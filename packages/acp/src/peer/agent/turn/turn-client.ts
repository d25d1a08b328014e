// The client as a turn sees it: its name, its features, its files and terminals.

import type { ClientFeatures } from "../../../edition/agent-ops.ts";
import type { Implementation, Meta } from "../../../model/content.ts";
import type { Files } from "../../../model/files.ts";
import type { TerminalHandle, Terminals } from "../../../model/terminals.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
import { type AskClient, clientFiles, clientTerminals } from "./remote-services.ts";

const defaultTimeoutMs = 60_000;

export class TurnClient {
  readonly info: Implementation | undefined;
  readonly features: ClientFeatures;
  /** `_meta` of the client's capabilities. */
  readonly meta: Meta | undefined;
  /** Undefined where the client offers none, or speaks version 2. */
  readonly files: Files | undefined;
  readonly terminals: Terminals | undefined;
  readonly #updates: SessionUpdates;
  readonly #signal: AbortSignal;
  readonly #open = new Set<TerminalHandle>();

  /** @internal */
  constructor(updates: SessionUpdates, turnSignal: AbortSignal, clientTimeoutMs = defaultTimeoutMs) {
    const { sessionId, sender } = updates;
    const { info, meta, features } = sender.client;
    this.#updates = updates;
    this.#signal = turnSignal;
    this.info = info;
    this.meta = meta;
    this.features = features;
    const { readFiles, writeFiles, terminals } = features;
    // requests are given up with the turn, except those that end a terminal
    const ask: AskClient = (method, params, signal) => {
      const ends = method === "terminal/kill" || method === "terminal/release";
      // a command takes its time; a client that hangs must not hold the turn for ever
      const timeoutMs = method === "terminal/wait_for_exit" ? undefined : clientTimeoutMs;
      const until = ends ? signal : either(turnSignal, signal);
      return updates.sender.request(method, params, { signal: until, timeoutMs });
    };
    this.files =
      readFiles || writeFiles
        ? clientFiles(sessionId, ask, { read: readFiles, write: writeFiles })
        : undefined;
    this.terminals = terminals
      ? clientTerminals(
          sessionId,
          ask,
          (terminal) => this.#created(terminal),
          (terminal) => this.#released(terminal),
        )
      : undefined;
  }

  /** @internal Releases the terminals that the turn did not release (A87). */
  close(): void {
    for (const terminal of this.#open) terminal.release().catch(() => undefined);
  }

  #created(terminal: TerminalHandle): void {
    this.#open.add(terminal);
    this.#updates.output.addClientTerminal(terminal.terminalId);
  }

  #released(terminal: TerminalHandle): void {
    this.#open.delete(terminal);
    this.#updates.work.released(terminal.terminalId);
  }

  /** A request outside the protocol; its name begins with `_`. */
  request(method: `_${string}`, params?: unknown, signal?: AbortSignal): Promise<unknown> {
    return this.#updates.sender.requestExtension(method, params, { signal: either(this.#signal, signal) });
  }
}

function either(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  return second === undefined ? first : AbortSignal.any([first, second]);
}
