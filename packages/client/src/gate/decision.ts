// A decision about one or more subjects, as it is reported and logged.

import type { Rule } from "../rules/rule.ts";
import type { PermissionScope, RuleSubject } from "../subjects/subject.ts";

/** A decision about one or more operations. */
export interface PermissionDecision {
  /** The session that it belongs to. */
  readonly sessionId: string;
  /** One line of text that describes them. */
  readonly summary: string;
  /** `violation`: the agent reports that it has done, without asking, what a rule forbids or wants asked. */
  readonly effect: "allow" | "deny" | "cancelled" | "violation";
  /**
   * `rule` or `default`: the rules. `boundary`: a path outside the session's directories. `user`: an answer. `reviewer`:
   * the answer of a reviewer. `nobody`: nobody could be asked, or did not answer in time. `approval`: the user had just allowed the agent exactly this.
   * `agent`: no rule matches, and the agent does it without asking.
   */
  readonly by: "rule" | "default" | "boundary" | "user" | "reviewer" | "nobody" | "approval" | "agent";
  /** The reason in words; it names the rule, if one decided. */
  readonly reason: string;
  /** What the user or the reviewer said beside a no. */
  readonly said?: string;
  /** Rules that would have allowed it, as text; absent when no rule can. Set when nobody could be asked. */
  readonly allowedBy?: readonly string[];
}

/** A decision about one or more operations. */
export interface Decision extends PermissionDecision {
  /** The directory of the session, with all links resolved. Rules of scope `workspace` hold there. */
  readonly workspace: string;
  /** The operations that were decided about. */
  readonly subjects: readonly RuleSubject[];
  /** The rule that decided, if any. */
  readonly rule?: Rule;
  /** How far the user's answer reaches. */
  readonly scope?: PermissionScope;
  /** Whether it answers a question of the agent: the conversation has the question and the answer. */
  readonly isAnswer?: boolean;
  /** The rules that were made from the user's answer. */
  readonly remembered?: readonly Rule[];
}
