// Text files as a tool needs them: on this machine (`@parley/acp/node`) or at the client, unsaved buffers
// included. Tools take one as a parameter and do not care.

export interface ReadTextOptions {
  /** 1-based. Default: the first line. */
  readonly line?: number;
  /** How many lines. Default: all. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface WriteTextOptions {
  readonly signal?: AbortSignal;
}

/** Paths are absolute. A method that the other side did not offer rejects with -32601. */
export interface Files {
  readonly canRead: boolean;
  readonly canWrite: boolean;
  /** The text without a byte order mark, otherwise verbatim. */
  readText(path: string, options?: ReadTextOptions): Promise<string>;
  /** Creates the file and its parent directories where they are missing. */
  writeText(path: string, content: string, options?: WriteTextOptions): Promise<void>;
  /** Lets go of what it holds. Called by the client for what was made for one session, when that ends. */
  close?(): Promise<void>;
}
