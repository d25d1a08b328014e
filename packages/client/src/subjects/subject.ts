// The subject of a decision: an operation that is about to happen.

/**
 * The kind of an operation. `mode`: the session switches its mode. `other`: an agent announces something that no other
 * kind describes. Only the rule `*` is about these two.
 */
export type SubjectOperation = "read" | "write" | "exec" | "net" | "mcp" | "mode" | "other";

export type FileOperation = Extract<SubjectOperation, "read" | "write">;

export function isFileOperation(operation: SubjectOperation | "*"): operation is FileOperation {
  return operation === "read" || operation === "write";
}

/** An operation that is about to happen. */
export interface RuleSubject {
  /**
   * `op`: this client performs it, so a decision is enforced. `claim`: an agent that runs its own tools announces it; a
   * decision cannot be enforced.
   */
  readonly origin: "op" | "claim";
  /** The kind of the operation. */
  readonly operation: SubjectOperation;
  /** The absolute path of a file, with all links resolved. */
  readonly path?: string;
  /** Whether the write deletes the file. */
  readonly deletes?: boolean;
  /** A program and its arguments. */
  readonly argv?: readonly string[];
  /**
   * A line for a shell: a whole line as a command, or the argument of `sh -c`. Allow rules with words do not match it.
   */
  readonly shellLine?: string;
  /** The working directory of a command. */
  readonly cwd?: string;
  /** The variables that the agent sets for a command, without those that are known to be harmless. */
  readonly env?: Readonly<Record<string, string>>;
  /** The profile of the sandbox that a command runs in. */
  readonly sandbox?: string;
  /** Whether the agent asks to run a command outside the sandbox. */
  readonly leaves?: boolean;
  /** `host` or `host:port`. */
  readonly host?: string;
  /** A tool of an MCP server. */
  readonly tool?: {
    readonly server: string;
    readonly name: string;
    /** A hash of its description and schema, where an answer is about these too. */
    readonly definition?: string;
  };
  /** The new mode of the session. */
  readonly mode?: string;
  /**
   * Whether only a kind, a title or a location describes it, or `unread` names something. Of the rules that allow, only
   * `*` and `exec **` match it then.
   */
  readonly labelOnly?: boolean;
  /** The fields of an agent's claim that may change what it does, in a way that Parley does not know. */
  readonly unread?: readonly string[];
}

/**
 * Whether this client performs the operation or an agent claims it.
 *
 * @inline
 */
export type SubjectOrigin = RuleSubject["origin"];

/** How far an answer reaches. */
export type PermissionScope = "once" | "session" | "workspace" | "always";

/** The answer of a rule. */
export type RuleEffect = "allow" | "ask" | "deny";
