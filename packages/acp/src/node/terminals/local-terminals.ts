// Runs commands on this machine in terminals; create one per session, so that sessions cannot see each other's.

import { isAbsolute } from "node:path";
import { ByteTail } from "../../base/byte-tail.ts";
import { checkOptions } from "../../base/known-options.ts";
import type { NoPromise } from "../../base/no-promise.ts";
import { createTerminalKeys, localTerminalsKeys } from "../../base/option-keys.gen.ts";
import type { ExitStatus } from "../../model/content.ts";
import type { CreateTerminalOptions, Terminals } from "../../model/services.ts";
import {
  type ByteSink,
  checkedByteLimit,
  checkedTimeout,
  commandSpec,
  type RunningCommand,
  startFailure,
  type TerminalCommand,
  terminalsClosed,
  tooManyTerminals,
  unknownTerminal,
} from "./command.ts";
import { startPiped } from "./piped-command.ts";
import { type PtySpawn, startPty } from "./pty-command.ts";
import { type LocalTerminal, OutputListeners, Terminal } from "./terminal.ts";

/** The directory, environment and limits of commands. */
export interface LocalTerminalsOptions {
  /** The default working directory of commands; an absolute path. */
  readonly cwd: string;
  /** Changes to the environment of this process; undefined removes a variable. The variables of `create` are added to it. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** How many terminals may exist at once. Default 32. */
  readonly maxTerminals?: number | undefined;
  /** The largest output limit that `create` may ask for, in bytes. Default 16 MiB. */
  readonly maxOutputByteLimit?: number | undefined;
  /** How long a command may take after SIGTERM, before SIGKILL, in milliseconds. Default 2000. */
  readonly killMs?: number | undefined;
  /** Creates a pseudo-terminal for every command. Default: a pipe. */
  readonly pty?: PtySpawn | undefined;
  /**
   * Replaces each command before it starts, for example by one in a sandbox. It gets the whole environment. What it throws
   * is the answer to `create`; an error of `spawn` such as ENOENT is explained.
   */
  readonly wrap?: ((command: TerminalCommand) => WrappedCommand | Promise<WrappedCommand>) | undefined;
  /** Receives all output, stdout and stderr together. Copy the bytes to keep them. */
  readonly onOutput?: ((terminalId: string, bytes: Uint8Array) => NoPromise) | undefined;
  /** Called once per terminal, when the command has exited and its output has been read. */
  readonly onExit?: ((terminalId: string, status: ExitStatus) => NoPromise) | undefined;
}

/** The command to start instead of another one. */
export interface WrappedCommand extends TerminalCommand {
  /** Called once, when the command has exited and before anybody hears of it, or when it could not be started. */
  readonly finished?: (() => NoPromise) | undefined;
}

/** Terminals that run commands on this machine, without a shell. */
export interface LocalTerminals extends Terminals {
  /** Starts a command. Rejects with RequestError when it cannot be started or there are too many terminals. */
  create(options: CreateTerminalOptions): Promise<LocalTerminal>;
  /** Returns a terminal. Throws RequestError "not_found" for an unknown or released id. */
  get(terminalId: string): LocalTerminal;
  /** Ends and releases all terminals; resolves when nothing of them runs. */
  close(): Promise<void>;
  /** Closes them. */
  [Symbol.asyncDispose](): Promise<void>;
}

const mebibyte = 1024 * 1024;

/**
 * Runs commands on this machine, without a shell. It does not ask for permission. Call `close` when done.
 *
 * @throws {TypeError} When `cwd` is not an absolute path, or an option is unknown.
 *
 * @example
 * import { client } from "@parley/acp";
 * import { localTerminals } from "@parley/acp/node";
 *
 * client({ name: "my-client", version: "1.0.0", terminals: (session) => localTerminals({ cwd: session.cwd }) });
 */
export function localTerminals(options: LocalTerminalsOptions): LocalTerminals {
  checkOptions("localTerminals", options, localTerminalsKeys);
  if (!isAbsolute(options.cwd)) throw new TypeError(`cwd must be an absolute path, got "${options.cwd}"`);
  return new TerminalTable(options);
}

class TerminalTable implements LocalTerminals {
  readonly #options: LocalTerminalsOptions;
  readonly #terminals = new Map<string, Terminal>();
  /** Commands that are starting or ending; they count towards the limit too. */
  readonly #busy = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(options: LocalTerminalsOptions) {
    this.#options = options;
  }

  async create(options: CreateTerminalOptions): Promise<LocalTerminal> {
    const { cwd, env = {}, maxTerminals = 32, maxOutputByteLimit = 16 * mebibyte } = this.#options;
    checkOptions("terminals.create", options, createTerminalKeys);
    const spec = commandSpec(options, { cwd, env });
    const asked = checkedByteLimit(options.outputByteLimit ?? mebibyte);
    options.signal?.throwIfAborted();
    if (this.#closing !== undefined) throw terminalsClosed();
    if (this.#terminals.size + this.#busy.size >= maxTerminals) throw tooManyTerminals(maxTerminals);
    const limits = {
      bytes: Math.min(asked, maxOutputByteLimit),
      timeoutMs: checkedTimeout(options.timeoutMs),
    };
    const starting = this.#start(spec, limits);
    const terminal = await this.#keep(starting);
    if (this.#closing === undefined && !options.signal?.aborted) return terminal;
    await terminal.release();
    options.signal?.throwIfAborted();
    throw terminalsClosed();
  }

  get(terminalId: string): LocalTerminal {
    const terminal = this.#terminals.get(terminalId);
    if (terminal === undefined) throw unknownTerminal();
    return terminal;
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      // a starting command is added to the terminals before it stops being busy
      while (this.#terminals.size + this.#busy.size > 0) {
        // this makes them busy, so the next line awaits them
        for (const terminal of this.#terminals.values()) void terminal.release();
        await Promise.allSettled(this.#busy);
      }
    })();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #start(
    spec: TerminalCommand,
    { bytes: limit, timeoutMs }: { readonly bytes: number; readonly timeoutMs: number | undefined },
  ): Promise<Terminal> {
    const { pty, killMs = 2000, wrap, onOutput, onExit } = this.#options;
    const wrapped: WrappedCommand = wrap === undefined ? spec : await wrapCommand(wrap, spec);
    const terminalId = `term_${crypto.randomUUID()}`;
    const tail = new ByteTail(limit);
    const listeners = new OutputListeners(tail);
    const sink = (bytes: Uint8Array): void => {
      tail.push(bytes);
      listeners.push(bytes);
      onOutput?.(terminalId, bytes);
    };
    const running = await startCommand(wrapped, sink, pty);
    const output = { tail, listeners };
    const terminal = new Terminal(terminalId, running, output, {
      killMs,
      timeoutMs,
      exited: (id, status) => onExit?.(id, status),
      released: (id, work) => {
        this.#terminals.delete(id);
        // a failure is reported to the caller of release()
        void this.#keep(work);
      },
    });
    this.#terminals.set(terminalId, terminal);
    return terminal;
  }

  /** Counts the work as busy until just before its awaiters continue. */
  #keep<T>(work: Promise<T>): Promise<T> {
    const done = (): void => {
      this.#busy.delete(work);
    };
    this.#busy.add(work);
    work.then(done, done);
    return work;
  }
}

async function startCommand(
  wrapped: WrappedCommand,
  sink: ByteSink,
  pty: PtySpawn | undefined,
): Promise<RunningCommand> {
  const { finished } = wrapped;
  try {
    const running = pty === undefined ? await startPiped(wrapped, sink) : startPty(wrapped, sink, pty);
    if (finished === undefined) return running;
    const exited = running.exited.then((status) => {
      finished();
      return status;
    });
    return { ...running, exited };
  } catch (error) {
    finished?.();
    throw error;
  }
}

async function wrapCommand(
  wrap: NonNullable<LocalTerminalsOptions["wrap"]>,
  spec: TerminalCommand,
): Promise<WrappedCommand> {
  try {
    return await wrap(spec);
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown }; // of spawn, if it has one
    throw code === "ENOENT" || code === "EACCES" ? startFailure(spec, error as NodeJS.ErrnoException) : error;
  }
}
