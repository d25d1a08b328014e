// Implements the client of a turn: its files and terminals are used by requests that end with the turn.

import { optional } from "../../../base/objects.ts";
import type { ClientCapabilities } from "../../../edition/agent-edition.ts";
import { metaOf } from "../../../edition/wire-fields.ts";
import type { ExitStatus, Implementation } from "../../../model/content.ts";
import type {
  CreateTerminalOptions,
  Files,
  ReadTextOptions,
  TerminalHandle,
  TerminalSnapshot,
  Terminals,
  WriteTextOptions,
} from "../../../model/services.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
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
    const ask: AskClient = (method, params, signal) => {
      const ends = method === "terminal/kill" || method === "terminal/release";
      if (!ends) this.#checkOpen();
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

/** Sends a request to the client and gives its decoded result. */
export type AskClient = (method: string, params: object, signal?: AbortSignal) => Promise<unknown>;

export function clientFiles(
  sessionId: string,
  ask: AskClient,
  can: { readonly read: boolean; readonly write: boolean },
): Files {
  return {
    canRead: can.read,
    canWrite: can.write,
    async readText(path: string, { line, limit, signal, _meta }: ReadTextOptions = {}) {
      const params = { sessionId, path, ...optional({ line, limit, _meta }) };
      const result = await ask("fs/read_text_file", params, signal);
      return (result as { content: string }).content; // validated by the method's row
    },
    async writeText(path: string, content: string, { signal, _meta }: WriteTextOptions = {}) {
      await ask("fs/write_text_file", { sessionId, path, content, ...optional({ _meta }) }, signal);
    },
  };
}

export function clientTerminals(
  sessionId: string,
  ask: AskClient,
  created: (terminal: TerminalHandle) => void,
  released: (terminal: TerminalHandle) => void,
): Terminals {
  return {
    async create({ command, args, env, cwd, outputByteLimit, signal, _meta }: CreateTerminalOptions) {
      const params = {
        sessionId,
        command,
        ...optional({
          args: args && [...args],
          env: env && Object.entries(env).map(([name, value]) => ({ name, value })),
          cwd,
          outputByteLimit,
          _meta,
        }),
      };
      const result = await ask("terminal/create", params, signal);
      const { terminalId } = result as { terminalId: string }; // validated by the method's row
      const terminal = terminalHandle(sessionId, terminalId, ask, released);
      created(terminal);
      return terminal;
    },
  };
}

function terminalHandle(
  sessionId: string,
  terminalId: string,
  ask: AskClient,
  onRelease: (terminal: TerminalHandle) => void,
): TerminalHandle {
  const params = { sessionId, terminalId };
  let released: Promise<void> | undefined;
  const terminal: TerminalHandle = {
    terminalId,
    async output(): Promise<TerminalSnapshot> {
      const snapshot = (await ask("terminal/output", params)) as {
        output: string;
        truncated: boolean;
        exitStatus?: ExitStatus | null;
      };
      const { output, truncated, exitStatus } = snapshot;
      const more = { ...optional({ exitStatus: exitStatus ?? undefined }), ...metaOf(snapshot) };
      return { output, truncated, ...more };
    },
    async waitForExit({ signal } = {}): Promise<ExitStatus> {
      return (await ask("terminal/wait_for_exit", params, signal)) as ExitStatus;
    },
    async kill() {
      await ask("terminal/kill", params);
    },
    release() {
      // a second release would be an error at the client, and tools release in finally blocks
      if (released === undefined) {
        onRelease(terminal);
        released = ask("terminal/release", params).then(() => undefined);
      }
      return released;
    },
    [Symbol.asyncDispose]: () => terminal.release(),
  };
  return terminal;
}
