// Commands on this machine, for a client that serves terminal/* and for an agent's own tools: one of
// these per session, so that no session can name the terminals of another.

import { isAbsolute } from "node:path";
import { ByteTail } from "../../base/byte-tail.ts";
import type { CreateTerminalOptions, ExitStatus, Terminals } from "../../model/terminals.ts";
import { type CommandSpec, checkedByteLimit, commandSpec } from "./command-spec.ts";
import { startPiped } from "./piped-command.ts";
import { type PtySpawn, startPty } from "./pty-command.ts";
import { type LocalTerminal, Terminal } from "./terminal.ts";
import { terminalsClosed, tooManyTerminals, unknownTerminal } from "./terminal-errors.ts";

export interface LocalTerminalsOptions {
  /** Absolute: where commands start that name no directory. */
  readonly cwd: string;
  /** Added to our environment; undefined removes a variable. What `create` gives is added to that. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How many there may be that have not been released. Default 32. */
  readonly maxTerminals?: number;
  /** The most that is kept, whatever `create` says. Default 16 MiB. */
  readonly maxOutputByteLimit?: number;
  /** How long a command may take after SIGTERM, before SIGKILL. Default 2000. */
  readonly killMs?: number;
  /** Gives every command a pseudo-terminal, made by this function. Default: a pipe. */
  readonly pty?: PtySpawn;
  /** Sees all output as it comes, stdout and stderr as one. Copy what must outlive the call. */
  readonly onOutput?: (terminalId: string, bytes: Uint8Array) => void;
  /** Once per terminal, when the command has ended and its output has been read. */
  readonly onExit?: (terminalId: string, status: ExitStatus) => void;
}

export interface LocalTerminals extends Terminals {
  create(options: CreateTerminalOptions): Promise<LocalTerminal>;
  /** Throws -32002 for an id that is unknown or has been released. */
  get(terminalId: string): LocalTerminal;
  /** Ends and releases all of them; resolves when nothing of them runs. */
  close(): Promise<void>;
}

const mebibyte = 1024 * 1024;

/** Runs commands on this machine. Whoever calls it closes it. */
export function localTerminals(options: LocalTerminalsOptions): LocalTerminals {
  if (!isAbsolute(options.cwd)) throw new TypeError(`cwd must be an absolute path, got "${options.cwd}"`);
  return new TerminalTable(options);
}

class TerminalTable implements LocalTerminals {
  readonly #options: LocalTerminalsOptions;
  readonly #terminals = new Map<string, Terminal>();
  /** Commands that are being started or ended; they take a place too. */
  readonly #busy = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(options: LocalTerminalsOptions) {
    this.#options = options;
  }

  async create(options: CreateTerminalOptions): Promise<LocalTerminal> {
    const { cwd, env = {}, maxTerminals = 32, maxOutputByteLimit = 16 * mebibyte } = this.#options;
    const spec = commandSpec(options, { cwd, env });
    const asked = checkedByteLimit(options.outputByteLimit ?? mebibyte);
    options.signal?.throwIfAborted();
    if (this.#closing !== undefined) throw terminalsClosed();
    if (this.#terminals.size + this.#busy.size >= maxTerminals) throw tooManyTerminals(maxTerminals);
    const starting = this.#start(spec, Math.min(asked, maxOutputByteLimit));
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
      // A command that is just being started joins the others before it stops being busy.
      while (this.#terminals.size + this.#busy.size > 0) {
        // They are busy from here on, so the next line waits for them.
        for (const terminal of this.#terminals.values()) void terminal.release();
        await Promise.allSettled(this.#busy);
      }
    })();
    return this.#closing;
  }

  async #start(spec: CommandSpec, limit: number): Promise<Terminal> {
    const { pty, killMs = 2000, onOutput, onExit } = this.#options;
    const terminalId = `term_${crypto.randomUUID()}`;
    const tail = new ByteTail(limit);
    const sink = (bytes: Uint8Array): void => {
      tail.push(bytes);
      onOutput?.(terminalId, bytes);
    };
    const running = pty === undefined ? await startPiped(spec, sink) : startPty(spec, sink, pty);
    const terminal = new Terminal(terminalId, running, tail, {
      killMs,
      exited: (id, status) => onExit?.(id, status),
      released: (id, work) => {
        this.#terminals.delete(id);
        // Whoever released it hears of a failure.
        void this.#keep(work);
      },
    });
    this.#terminals.set(terminalId, terminal);
    return terminal;
  }

  /** Before whoever awaits the work goes on, its place is free again. */
  #keep<T>(work: Promise<T>): Promise<T> {
    const done = (): void => {
      this.#busy.delete(work);
    };
    this.#busy.add(work);
    work.then(done, done);
    return work;
  }
}
