// Implements the client of a turn: its files and terminals are used by requests that end with the turn.

import type { ClientCapabilities } from "../../../edition/agent-edition.ts";
import { RequestError } from "../../../jsonrpc/errors.ts";
import type { Implementation } from "../../../model/content.ts";
import type { Files, TerminalHandle, Terminals } from "../../../model/services.ts";
import { ClientReplaced } from "../session/client-requests.ts";
import type { SessionSender } from "../session/session-sender.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
import { clientFiles } from "./client-files.ts";
import type { AskClient, ClientServices } from "./client-services.ts";
import { clientTerminals } from "./client-terminals.ts";
import type { TurnClient } from "./turn.ts";

const defaultTimeoutMs = 60_000;

export class ServedTurnClient implements TurnClient {
  readonly #updates: SessionUpdates;
  readonly #signal: AbortSignal;
  readonly #timeoutMs: number;
  readonly #open = new Set<TerminalHandle>();
  readonly #files: Files;
  readonly #terminals: Terminals;
  #isClosed = false;

  constructor(updates: SessionUpdates, turnSignal: AbortSignal, clientTimeoutMs = defaultTimeoutMs) {
    this.#updates = updates;
    this.#signal = turnSignal;
    this.#timeoutMs = clientTimeoutMs;
    const client = this;
    const filesNow = () => clientFiles(client.#services("files"), client.#fileFeatures);
    const hooks = {
      created: (terminal: TerminalHandle) => client.#created(terminal),
      released: (terminal: TerminalHandle) => client.#released(terminal),
    };
    this.#files = {
      get canRead() {
        return client.#fileFeatures.read;
      },
      get canWrite() {
        return client.#fileFeatures.write;
      },
      readText: async (path, options) => filesNow().readText(path, options),
      writeText: async (path, content, options) => filesNow().writeText(path, content, options),
    };
    this.#terminals = {
      create: async (options) => clientTerminals(client.#services("terminals"), hooks).create(options),
    };
  }

  // The client may be another one at any time: what it is and can is never kept.

  get info(): Implementation | undefined {
    return this.#updates.sender.client.info;
  }

  get capabilities(): ClientCapabilities {
    return this.#updates.sender.client.capabilities;
  }

  get files(): Files | undefined {
    const { read, write } = this.#fileFeatures;
    return read || write ? this.#files : undefined;
  }

  get terminals(): Terminals | undefined {
    return this.capabilities.terminal ? this.#terminals : undefined;
  }

  get #fileFeatures(): { read: boolean; write: boolean } {
    const { readTextFile: read, writeTextFile: write } = this.capabilities;
    return { read, write };
  }

  /** The services of the client that has the session now, and of no other: a terminal is gone with its client. */
  #services(what: "files" | "terminals"): ClientServices {
    const updates = this.#updates;
    const { sessionId, sender } = updates;
    if (this[what] === undefined) {
      const message = `the client that has the session now offers no ${what}`;
      throw new RequestError("method_not_found", message, { data: { reason: "capability_missing" } });
    }
    // requests are given up with the turn, except those that end a terminal
    const ask: AskClient = async (method, params, signal, receive) => {
      const ends = method === "terminal/kill" || method === "terminal/release";
      if (!ends) this.#checkOpen();
      // a command takes its time; a client that hangs must not hold the turn for ever
      const timeoutMs = method === "terminal/wait_for_exit" ? undefined : this.#timeoutMs;
      if (updates.sender === sender) {
        const send = (_: SessionSender, until: AbortSignal) =>
          sender.request(method, params, { signal: until, timeoutMs, receive });
        const asked = updates.client.ask(method, send, ends ? signal : either(this.#signal, signal));
        return ends ? asked.catch(unlessReplaced) : asked;
      }
      if (!ends) throw new ClientReplaced(method);
      // the client may still be there, but nobody waits for it
      sender.request(method, params, { timeoutMs }).catch(() => undefined);
    };
    return { sessionId, ask, dialect: sender.dialect, terminalOutput: sender.terminalOutput };
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

  readonly request: TurnClient["request"] = (method, params, { signal } = {}) => {
    this.#checkOpen();
    const send = (asked: SessionSender, until: AbortSignal) =>
      asked.requestExtension(method, params, { signal: until });
    return this.#updates.client.ask(method, send, either(this.#signal, signal));
  };
}

/** A terminal has ended with its client. */
function unlessReplaced(error: unknown): void {
  if (!(error instanceof ClientReplaced)) throw error;
}

function either(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  return second === undefined ? first : AbortSignal.any([first, second]);
}
