// The interfaces of files and terminals, on this machine or at the client.

import type { ExitStatus } from "./content.ts";

export interface ReadTextOptions {
  /** 1-based. Default: the first line. */
  readonly line?: number;
  /** How many lines. Default: all. */
  readonly limit?: number;
  /** Whether to follow symbolic links. False for a path from `realPath`: a link in it is refused. Default true. */
  readonly followLinks?: boolean;
  readonly signal?: AbortSignal;
}

export interface WriteTextOptions {
  /** As for reading. */
  readonly followLinks?: boolean;
  readonly signal?: AbortSignal;
}

/** Paths are absolute. A method that the other side did not offer rejects with RequestError "method_not_found". */
export interface Files {
  readonly canRead: boolean;
  readonly canWrite: boolean;
  /** The text without a byte order mark, otherwise verbatim. */
  readText(path: string, options?: ReadTextOptions): Promise<string>;
  /** Creates the file and its parent directories where they are missing. */
  writeText(path: string, content: string, options?: WriteTextOptions): Promise<void>;
  /** Resolves the symbolic links of a path, which need not exist yet. A policy decides by the result. */
  realPath?(path: string): Promise<string>;
  /** Lets go of what it holds. Called by the client for what was made for one session, when that ends. */
  close?(): Promise<void>;
  /** Closes it, for `await using`. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/** The files that a client offers: `readText`, `writeText` or both. What is missing, the agent is not offered. */
export type ClientFiles = Partial<Files> & (Pick<Files, "readText"> | Pick<Files, "writeText">);

export interface CreateTerminalOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute. Default: the session's working directory. */
  readonly cwd?: string;
  /** Bytes of output to keep; older output is dropped from the front, at a character boundary. */
  readonly outputByteLimit?: number;
  readonly signal?: AbortSignal;
}

export interface TerminalOutput {
  readonly output: string;
  readonly truncated: boolean;
  /** Present once the command has ended. */
  readonly exitStatus?: ExitStatus;
}

/** A running or finished command. It must be released, also after `kill`. */
export interface TerminalHandle {
  readonly terminalId: string;
  /** The output so far; never waits. */
  output(): Promise<TerminalOutput>;
  /** May be called several times; all get the same answer. */
  waitForExit(options?: { readonly signal?: AbortSignal }): Promise<ExitStatus>;
  /** Ends the command; its output stays readable. */
  kill(): Promise<void>;
  /** Ends the command if it still runs; the terminal is gone afterwards. */
  release(): Promise<void>;
  /** Releases it, for `await using`. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

export interface Terminals {
  /** Answers as soon as the command has started. */
  create(options: CreateTerminalOptions): Promise<TerminalHandle>;
  /** Lets go of what it holds. Called by the client for what was made for one session, when that ends. */
  close?(): Promise<void>;
  /** Closes it, for `await using`. */
  [Symbol.asyncDispose]?(): Promise<void>;
}
