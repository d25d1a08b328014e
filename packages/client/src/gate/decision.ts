// A decision about one or more subjects, as it is reported and logged.

import type { RememberedRule } from "../rules/remembered.ts";
import type { Rule } from "../rules/rule.ts";
import type { Scope, Subject } from "../subjects/subject.ts";

/** What was decided about something, and by what. */
export interface PermissionDecision {
  readonly sessionId: string;
  /** One line in our own words. */
  readonly summary: string;
  /** `violation`: an agent says that it has done by itself, without asking, what a rule forbids. */
  readonly effect: "allow" | "deny" | "cancelled" | "violation";
  /**
   * `rule`, `default`; `boundary`: it leads outside the session's directories, and no rule is asked; `user`: a person was
   * asked; `nobody`: there was none to ask, or no answer came; `approval`: a person had just allowed the agent exactly this;
   * `agent`: no rule is about it, and the agent does it without asking.
   */
  readonly by: "rule" | "default" | "boundary" | "user" | "nobody" | "approval" | "agent";
  /** Names the rule that fired, where one did. */
  readonly reason: string;
  /** The rules that would have allowed what nobody was there to allow; absent where no rule can. */
  readonly allowedBy?: readonly string[];
}

/** With what is needed to log it, and to explain it. */
export interface Decision extends PermissionDecision {
  /** The session's directory: where a rule that is remembered for this workspace counts. Canonical. */
  readonly workspace: string;
  readonly subjects: readonly Subject[];
  readonly rule?: Rule;
  /** Of a person's answer. */
  readonly scope?: Scope;
  /** What was remembered of it. */
  readonly remembered?: RememberedRule;
}

/** The rules want it asked, and there was nobody to ask. */
export function isLeft({ effect, by }: Decision): boolean {
  return effect === "deny" && by === "nobody";
}
