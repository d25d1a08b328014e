// The types of a rule.

import type { Effect, Operation, Scope, Subject } from "../subjects/subject.ts";

/** Who said so. A workspace may only forbid or have asked; `launch` is what was typed for this run. */
export type RuleOrigin = "operator" | "user" | "workspace" | "launch" | "remembered";

/** The words that a rule may begin with. `*` is also about what no other word is about. */
export type RuleOperation = Exclude<Operation, "mode" | "other"> | "*";

/** What a person was shown, and nothing else. */
export type ExactTarget = Pick<
  Subject,
  "operation" | "path" | "deletes" | "argv" | "shellLine" | "cwd" | "env" | "host" | "tool" | "mode"
>;

/** What a rule is about, decoded from its text. Without a pattern: everything of that operation. */
export interface RuleTarget {
  readonly operation: Operation | "*";
  /** As it was written; what it means depends on the operation. */
  readonly pattern?: string;
  /** Of an answer: exactly this, instead of a pattern. */
  readonly exact?: ExactTarget;
}

export interface Rule extends RuleTarget {
  readonly effect: Effect;
  readonly origin: RuleOrigin;
  /** The file that it is in, where it is in one. */
  readonly source?: string;
  /** Of a remembered answer; what it is revoked by. */
  readonly id?: string;
  readonly scope?: Exclude<Scope, "once">;
  /** Milliseconds since 1970. */
  readonly expires?: number;
  /** Of scope `workspace`: the directory, and which one it was. */
  readonly workspace?: { readonly path: string; readonly identity: string };
}

/** A rule that cannot be understood. The message says what is wrong. */
export class RuleError extends Error {}
