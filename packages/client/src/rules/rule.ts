// The types of a rule.

import type { Effect, Operation, Scope, SubjectOrigin } from "../subjects/subject.ts";

/** Who said so. A workspace may only forbid or have asked; `launch` is what was typed for this run. */
export type RuleOrigin = "operator" | "user" | "workspace" | "launch" | "remembered";

/** What a rule is about, decoded from its text. Without a pattern: everything of that operation. */
export interface RuleTarget {
  /** `any`: what we do ourselves and what agents claim. */
  readonly of: SubjectOrigin | "any";
  readonly operation: Operation | "*";
  /** As it was written; what it means depends on the operation. */
  readonly pattern?: string;
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
  /** A command counts in this directory only. */
  readonly cwd?: string;
}

/** A rule that cannot be understood. The message says what is wrong. */
export class RuleError extends Error {}
