// The subject of a decision: an operation that is about to happen.

/** What is done to the world. `other`: an agent says something that none of these words is for. */
export type Operation = "read" | "write" | "delete" | "exec" | "network" | "mcp" | "mode" | "other";

export const operations: readonly Operation[] = [
  "read",
  "write",
  "delete",
  "exec",
  "network",
  "mcp",
  "mode",
  "other",
];

export type FileOperation = Extract<Operation, "read" | "write" | "delete">;

export function isFileOperation(operation: Operation | "*"): operation is FileOperation {
  return operation === "read" || operation === "write" || operation === "delete";
}

/** Something that is about to happen, or that an agent says it will do. */
export interface Subject {
  /**
   * `op`: we perform it ourselves, so that a decision is enforced. `claim`: an agent that runs its own tools says that it
   * will do it; nobody can hold it to that.
   */
  readonly origin: "op" | "claim";
  readonly operation: Operation;
  /** Canonical and absolute. */
  readonly path?: string;
  /** A program and its arguments. */
  readonly argv?: readonly string[];
  /** What a shell has to read: a whole line as a command, or what `sh -c` is given. No allow rule with words matches it. */
  readonly shellLine?: string;
  /** Where a command would run. */
  readonly cwd?: string;
  /** The names of the variables that the agent sets for a command. */
  readonly env?: readonly string[];
  /** `host` or `host:port`. */
  readonly host?: string;
  /** A tool of an MCP server. */
  readonly tool?: { readonly server: string; readonly name: string };
  /** The mode that would be switched to. */
  readonly mode?: string;
  /** Nothing but a kind, a title or a location says so: it may be denied by a rule, and never allowed by one. */
  readonly labelOnly?: boolean;
}

export type SubjectOrigin = Subject["origin"];

/** How far an answer reaches. */
export type Scope = "once" | "session" | "workspace" | "always";

export type Effect = "allow" | "ask" | "deny";
