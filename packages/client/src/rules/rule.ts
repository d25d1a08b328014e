// The types of a rule.

import type { Effect, Operation, Scope, SubjectOrigin } from "../subjects/subject.ts";

/**
 * Who wrote the rule. Rules of a workspace can deny and ask, but not allow; `launch` rules were given for this run only.
 * @inline
 */
export type RuleOrigin = "operator" | "user" | "workspace" | "launch" | "remembered";

/** One rule, such as "allow read src/**". */
export interface Rule {
  /** `op`: operations of this client. `claim`: operations that agents announce. `any`: both. */
  readonly of: SubjectOrigin | "any";
  /** The operation that the rule is about; "*" for all. */
  readonly operation: Operation | "*";
  /** A path, a command, a host, a tool or a mode. Default: everything of that operation. */
  readonly pattern?: string;
  /** Whether to allow it, deny it or ask the user. */
  readonly effect: Effect;
  /** Who wrote the rule. Rules of a workspace can deny and ask, but not allow. */
  readonly origin: RuleOrigin;
  /** The file that contains the rule, if any. */
  readonly source?: string;
  /** The id of a remembered answer, to revoke it. */
  readonly id?: string;
  /** How far a remembered answer reaches. */
  readonly scope?: Exclude<Scope, "once">;
  /** When a remembered answer ends, in milliseconds since 1970. */
  readonly expires?: number;
  /** The directory of a rule of scope `workspace`; `identity` changes when another directory takes its path. */
  readonly workspace?: { readonly path: string; readonly identity: string };
  /** The only directory in which a command is allowed. */
  readonly cwd?: string;
}

/** The part of a rule that its text after the effect says. */
export type RuleTarget = Pick<Rule, "of" | "operation" | "pattern">;

/** A rule that cannot be understood. The message says what is wrong and names the line. */
export class RuleError extends Error {}
