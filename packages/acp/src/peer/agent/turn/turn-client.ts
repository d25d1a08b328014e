// Implements the client of a turn: its files and terminals are used by requests that end with the turn.

import { RequestError } from "../../../jsonrpc/errors.ts";
import type { Files, TerminalHandle, Terminals } from "../../../model/services.ts";
import { ClientReplaced } from "../session/client-requests.ts";
import type { SessionSender } from "../session/session-sender.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
import { clientFiles } from "./client-files.ts";
import type { AskClient, ClientServices } from "./client-services.ts";
import { clientTerminals } from "./client-terminals.ts";
import type { TurnClient } from "./turn.ts";

const defaultTimeoutMs = 60_000;

export type ServedTurnClient = ReturnType<typeof turnClient>;

/** The client may be another one at any time: what it is and can is never kept. */
export function turnClient(
  updates: SessionUpdates,
  turnSignal: AbortSignal,
  timeoutMs = defaultTimeoutMs,
): TurnClient & { close(): void } {
  const open = new Set<TerminalHandle>();
  let isClosed = false;

  const fileFeatures = () => {
    const { readTextFile: read, writeTextFile: write } = updates.sender.client.capabilities;
    return { read, write };
  };

  function checkOpen(): void {
    if (isClosed) throw clientGone();
  }

  /** The services of the client that has the session now, and of no other: a terminal is gone with its client. */
  function services(what: "files" | "terminals"): ClientServices {
    const { sessionId, sender } = updates;
    if (client[what] === undefined) {
      const message = `the client that has the session now offers no ${what}`;
      throw new RequestError("method_not_found", message, { data: { reason: "capability_missing" } });
    }
    // requests are given up with the turn, except those that end a terminal
    const ask: AskClient = async (method, params, signal, receive) => {
      const ends = method === "terminal/kill" || method === "terminal/release";
      if (!ends) checkOpen();
      // a command takes its time; a client that hangs must not hold the turn for ever
      const limit = method === "terminal/wait_for_exit" ? undefined : timeoutMs;
      if (updates.sender === sender) {
        const send = (_: SessionSender, until: AbortSignal) =>
          sender.request(method, params, { signal: until, timeoutMs: limit, receive });
        const asked = updates.client.ask(method, send, ends ? signal : either(turnSignal, signal));
        return ends ? asked.catch(unlessReplaced) : asked;
      }
      if (!ends) throw new ClientReplaced(method);
      // the client may still be there, but nobody waits for it
      sender.request(method, params, { timeoutMs: limit }).catch(() => undefined);
    };
    return { sessionId, ask, dialect: sender.dialect, terminalOutput: sender.terminalOutput };
  }

  const filesNow = () => clientFiles(services("files"), fileFeatures());
  const files: Files = {
    get canRead() {
      return fileFeatures().read;
    },
    get canWrite() {
      return fileFeatures().write;
    },
    readText: async (path, options) => filesNow().readText(path, options),
    writeText: async (path, content, options) => filesNow().writeText(path, content, options),
  };
  const hooks = {
    created(terminal: TerminalHandle): void {
      open.add(terminal);
      // the turn ended while the command was being started
      if (isClosed) terminal.release().catch(() => undefined);
      updates.output.addClientTerminal(terminal.terminalId);
    },
    released(terminal: TerminalHandle): void {
      open.delete(terminal);
      updates.work.released(terminal.terminalId);
    },
  };
  const terminals: Terminals = {
    create: async (options) => clientTerminals(services("terminals"), hooks).create(options),
  };

  const client: TurnClient & { close(): void } = {
    get info() {
      return updates.sender.client.info;
    },
    get capabilities() {
      return updates.sender.client.capabilities;
    },
    get files() {
      const { read, write } = fileFeatures();
      return read || write ? files : undefined;
    },
    get terminals() {
      return updates.sender.client.capabilities.terminal ? terminals : undefined;
    },
    request(method, params, { signal } = {}) {
      if (isClosed) return updates.late(clientGone());
      const send = (asked: SessionSender, until: AbortSignal) =>
        asked.requestExtension(method, params, { signal: until });
      return updates.client.ask(method, send, either(turnSignal, signal));
    },
    /** Takes no more requests, and releases the terminals that the turn did not release. */
    close() {
      isClosed = true;
      for (const terminal of open) terminal.release().catch(() => undefined);
    },
  };
  return client;
}

/** A terminal has ended with its client. */
function unlessReplaced(error: unknown): void {
  if (!(error instanceof ClientReplaced)) throw error;
}

function either(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  return second === undefined ? first : AbortSignal.any([first, second]);
}

function clientGone(): Error {
  return new Error("the turn has ended: turn.client sends nothing any more; await it in the prompt handler");
}
