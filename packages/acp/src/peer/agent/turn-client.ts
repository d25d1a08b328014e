// The client as a turn sees it: who it is, what it offers.

import type { ClientFeatures } from "../../edition/agent-ops.ts";
import type { Implementation, Meta } from "../../model/content.ts";
import type { Files } from "../../model/files.ts";
import type { TerminalHandle, Terminals } from "../../model/terminals.ts";
import type { AgentSession } from "./agent-session.ts";
import { type AskClient, clientFiles, clientTerminals } from "./client-services.ts";

const defaultTimeoutMs = 60_000;

export class TurnClient {
  readonly info: Implementation | undefined;
  readonly features: ClientFeatures;
  /** `_meta` of the client's capabilities. */
  readonly meta: Meta | undefined;
  /** Undefined where the client offers none, or speaks version 2. */
  readonly files: Files | undefined;
  readonly terminals: Terminals | undefined;
  readonly #session: AgentSession;
  readonly #signal: AbortSignal;
  readonly #open = new Set<TerminalHandle>();

  /** @internal */
  constructor(session: AgentSession, turnSignal: AbortSignal) {
    const { link, sessionId } = session;
    this.#session = session;
    this.#signal = turnSignal;
    this.info = link.clientInfo;
    this.meta = link.clientMeta;
    this.features = link.features;
    const { readFiles, writeFiles, terminals } = link.features;
    const { clientTimeoutMs = defaultTimeoutMs } = link.definition;
    // whatever a turn asked for is given up with the turn, but for the end of a terminal
    const ask: AskClient = (method, params, signal) => {
      const ends = method === "terminal/kill" || method === "terminal/release";
      // a command takes its time; a client that hangs must not hold the turn for ever
      const timeoutMs = method === "terminal/wait_for_exit" ? undefined : clientTimeoutMs;
      return link.ask(method, params, { signal: ends ? signal : either(turnSignal, signal), timeoutMs });
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

  /** @internal What the turn did not release is released with it (A87); the client frees it, whenever it answers. */
  close(): void {
    for (const terminal of this.#open) terminal.release().catch(() => undefined);
  }

  #created(terminal: TerminalHandle): void {
    this.#open.add(terminal);
    this.#session.addClientTerminal(terminal.terminalId);
  }

  #released(terminal: TerminalHandle): void {
    this.#open.delete(terminal);
    this.#session.parts.released(terminal.terminalId);
  }

  /** A request outside the protocol; its name begins with `_`. */
  request(method: `_${string}`, params?: unknown, signal?: AbortSignal): Promise<unknown> {
    return this.#session.link.askExtension(method, params, either(this.#signal, signal));
  }
}

function either(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  return second === undefined ? first : AbortSignal.any([first, second]);
}
