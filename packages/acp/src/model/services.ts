// The interfaces of files and terminals, on this machine or at the client.

import type { ExitStatus, Meta } from "./content.ts";

/**
 * How text stands for the bytes of a file. "base64" and "hex" are for files that are not text.
 *
 * @inline
 */
export type TextEncoding = "utf-8" | "utf-16le" | "latin1" | "ascii" | "base64" | "hex";

/** The part of a file to read. */
export interface ReadTextOptions {
  /** The first line to read, counted from 1. Default 1. */
  readonly line?: number | undefined;
  /** How many lines to read. Default: all. */
  readonly limit?: number | undefined;
  /**
   * How the text stands for the bytes of the file. With "base64" and "hex" any file can be read, and `line` and `limit` are
   * refused. Clients of v1 have "utf-8" only, unless their dialect has others. Default "utf-8".
   */
  readonly encoding?: TextEncoding | undefined;
  /** Whether to follow symbolic links. False for a path from `realPath`: a link in it is refused. Default true. */
  readonly followLinks?: boolean | undefined;
  /** Aborting it stops reading. */
  readonly signal?: AbortSignal | undefined;
  /** Custom data of the request to a client. */
  readonly _meta?: Meta | undefined;
}

/** Options for writing a file. */
export interface WriteTextOptions {
  /**
   * How `content` stands for the bytes to write. Clients of v1 have "utf-8" only, unless their dialect has
   * others. Default "utf-8".
   */
  readonly encoding?: TextEncoding | undefined;
  /**
   * Whether a file that exists is replaced. False rejects with RequestError "conflict" if there is one. Clients of v1 without
   * a dialect only replace. Default true.
   */
  readonly overwrite?: boolean | undefined;
  /**
   * Whether missing directories are made. False rejects with RequestError "not_found" if one is missing. Clients of v1
   * make them, unless their dialect can leave them out. Default true.
   */
  readonly createDirectories?: boolean | undefined;
  /** Whether to follow symbolic links. False for a path from `realPath`: a link in it is refused. Default true. */
  readonly followLinks?: boolean | undefined;
  /** Aborting it prevents the write, if the write has not begun. */
  readonly signal?: AbortSignal | undefined;
  /** Custom data of the request to a client. */
  readonly _meta?: Meta | undefined;
}

/**
 * Text files, on this machine (`localFiles` of `@parley/acp/node`) or at the client. Paths are absolute. A method that the
 * other side does not offer rejects with RequestError "method_not_found". Only v1 agents use the client's files.
 */
export interface Files {
  /** Whether `readText` works. */
  readonly canRead: boolean;
  /** Whether `writeText` works. */
  readonly canWrite: boolean;
  /** Reads a text file, without its byte order mark and otherwise unchanged. */
  readText(path: string, options?: ReadTextOptions): Promise<string>;
  /** Writes a text file. Creates the file and its directories if they are missing. */
  writeText(path: string, content: string, options?: WriteTextOptions): Promise<void>;
  /** Resolves the symbolic links of a path, which need not exist yet. A policy decides by the result. */
  realPath?(path: string): Promise<string>;
  /** Releases all resources. The client calls it when the session ends, if the object was created for one session. */
  close?(): Promise<void>;
  /** Closes it, for `await using`. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/** The files that a client offers: `readText`, `writeText` or both. A missing method is not offered to the agent. */
export type ClientFiles = Partial<Files> & (Pick<Files, "readText"> | Pick<Files, "writeText">);

/** The command to run in a terminal. */
export interface CreateTerminalOptions {
  /** The program. It is not run by a shell. */
  readonly command: string;
  /** Its arguments. Default: none. */
  readonly args?: readonly string[] | undefined;
  /** Environment variables to set in addition to those of the client. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The directory to run it in: an absolute path. Default: the session's working directory. */
  readonly cwd?: string | undefined;
  /** How many bytes of output to keep. Older output is dropped first. */
  readonly outputByteLimit?: number | undefined;
  /** How long the command may run, in milliseconds. Then it is killed. Default: as long as it takes. */
  readonly timeoutMs?: number | undefined;
  /** Aborting it ends the attempt to start the command. */
  readonly signal?: AbortSignal | undefined;
  /** Custom data of the request to a client. */
  readonly _meta?: Meta | undefined;
}

/** The current output and state of a terminal. */
export interface TerminalSnapshot {
  /** The output so far, or the newest part of it if `truncated`. */
  readonly output: string;
  /** Whether older output was dropped. */
  readonly truncated: boolean;
  /** Present once the command has ended. */
  readonly exitStatus?: ExitStatus;
  /** Custom data of a client's answer. */
  readonly _meta?: Meta | undefined;
}

/** How a command ended, or that it has not ended in time. */
export interface TerminalExit extends ExitStatus {
  /** True if `timeoutMs` ended the wait. The command goes on then. */
  readonly timedOut?: boolean;
}

/** New output of a terminal. */
export interface TerminalOutputPart {
  /** The text, in whole characters. */
  readonly data: string;
  /** Where the command wrote it, if the two are told apart. */
  readonly stream?: "stdout" | "stderr";
}

/** A running or finished command. Always release it, even after `kill`, or use `await using`. */
export interface TerminalHandle {
  /** The id, to show the terminal in a tool call. */
  readonly terminalId: string;
  /** The id of the command's process, where it is known. A client without a dialect need not tell it. */
  readonly pid?: number | undefined;
  /** The output so far; never waits. */
  output(): Promise<TerminalSnapshot>;
  /**
   * Calls the listener with the output so far, if there is some, and with all output that comes. All of it is given before
   * `waitForExit` resolves. Returns a function that removes the listener. Undefined where output can only be asked for, as
   * on v1 without a dialect.
   */
  readonly onOutput?: ((listener: (part: TerminalOutputPart) => void) => () => void) | undefined;
  /**
   * Waits until the command has ended. May be called several times. The signal ends the wait, not the command; so does
   * `timeoutMs`, with the result `{ timedOut: true }`.
   */
  waitForExit(options?: {
    readonly signal?: AbortSignal | undefined;
    readonly timeoutMs?: number | undefined;
  }): Promise<TerminalExit>;
  /**
   * Ends the command; its output stays readable. With a `signal`, such as "SIGINT", only that is sent, and the command may go
   * on. Clients of v1 without a dialect take no signal: the call rejects with RequestError "method_not_found".
   */
  kill(options?: { readonly signal?: string | undefined }): Promise<void>;
  /** Ends the command if it is still running, and discards the terminal. */
  release(): Promise<void>;
  /** Releases it, for `await using`. */
  readonly [Symbol.asyncDispose]?: (() => Promise<void>) | undefined;
}

/**
 * Runs commands, on this machine (`localTerminals` of `@parley/acp/node`) or at the client. Only v1 agents use the client's
 * terminals.
 */
export interface Terminals {
  /** Starts a command. Resolves as soon as it has started. */
  create(options: CreateTerminalOptions): Promise<TerminalHandle>;
  /**
   * Gives a terminal that was created before and has not been released: a restored connection asks for those of its agent.
   * Leave it out where commands end with the process. Default: they are gone.
   */
  find?(terminalId: string): TerminalHandle | undefined;
  /** Releases all resources. The client calls it when the session ends, if the object was created for one session. */
  close?(): Promise<void>;
  /** Closes it, for `await using`. */
  [Symbol.asyncDispose]?(): Promise<void>;
}
