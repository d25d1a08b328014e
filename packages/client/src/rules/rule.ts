// The types of a rule.

import type { PermissionScope, RuleEffect, RuleSubject, SubjectOperation } from "../subjects/subject.ts";

/** Who made a rule. A workspace may only deny and ask; `launch` is a rule that was typed for this run. */
export type RuleOrigin = "operator" | "user" | "workspace" | "launch" | "remembered";

/** The words that a rule may begin with. `*` also matches operations that no other word names. */
export type RuleOperation = Exclude<SubjectOperation, "mode" | "other"> | "*";

/** Exactly the facts that a person was shown. */
export type ExactTarget = Pick<
  RuleSubject,
  "operation" | "path" | "deletes" | "argv" | "shellLine" | "cwd" | "env" | "host" | "tool" | "mode"
>;

/** What a rule is about. Without a pattern it is about everything of that operation. */
export interface RuleTarget {
  /** The kind of the operation; `*` for all. */
  readonly operation: SubjectOperation | "*";
  /** The pattern as it was written. Its syntax depends on the operation. */
  readonly pattern?: string;
  /** The target of an answer, in place of a pattern. */
  readonly exact?: ExactTarget;
}

/** One rule. */
export interface Rule extends RuleTarget {
  /** Its answer. */
  readonly effect: RuleEffect;
  /** Who made it. */
  readonly origin: RuleOrigin;
  /** The file that it is in, if any. */
  readonly source?: string;
  /** The id of a remembered answer, which revokes it. */
  readonly id?: string;
  /** Where an answer holds. */
  readonly scope?: Exclude<PermissionScope, "once">;
  /** When it ends, in milliseconds since 1970. */
  readonly expires?: number;
  /** The directory of an answer of scope "workspace", and its identity. */
  readonly workspace?: { readonly path: string; readonly identity: string };
}

/** A rule that cannot be understood. The message says what is wrong. */
export class RuleError extends Error {}
