// What is about to happen, in the words that rules, questions to the user and the audit log share.

/** What is done to the world. `other`: an agent says something that none of these words is for. */
export type Operation = "read" | "write" | "delete" | "exec" | "network" | "mcp" | "mode" | "other";

/**
 * `op`: we perform it ourselves, so that a decision is enforced on the real thing. `claim`: an agent that runs its own
 * tools says that it will do it; nobody can hold it to that.
 */
export type SubjectOrigin = "op" | "claim";

export interface Subject {
  readonly origin: SubjectOrigin;
  readonly operation: Operation;
  /** Canonical and absolute. */
  readonly path?: string;
  /** A program and its arguments. */
  readonly argv?: readonly string[];
  /** A command that a shell has to read; no allow rule matches it. */
  readonly shellLine?: string;
  /** Where a command would run. */
  readonly cwd?: string;
  /** `host` or `host:port`. */
  readonly host?: string;
  /** A tool of an MCP server. */
  readonly tool?: { readonly server: string; readonly name: string };
  /** The mode that would be switched to. */
  readonly mode?: string;
}

/** How far an answer reaches. */
export type Scope = "once" | "session" | "workspace" | "always";

export type Effect = "allow" | "ask" | "deny";
