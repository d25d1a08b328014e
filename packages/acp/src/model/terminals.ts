// Commands with their output, on this machine (`@parley/acp/node`) or at the client.

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

export interface ExitStatus {
  readonly exitCode?: number | null;
  readonly signal?: string | null;
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
  /** What there is so far; never waits. */
  output(): Promise<TerminalOutput>;
  /** May be called several times; all get the same answer. */
  waitForExit(options?: { readonly signal?: AbortSignal }): Promise<ExitStatus>;
  /** Ends the command; its output stays readable. */
  kill(): Promise<void>;
  /** Ends the command if it still runs; the terminal is gone afterwards. */
  release(): Promise<void>;
}

export interface Terminals {
  /** Answers as soon as the command has started. */
  create(options: CreateTerminalOptions): Promise<TerminalHandle>;
  /** Lets go of what it holds. Called by the client for what was made for one session, when that ends. */
  close?(): Promise<void>;
}
