// A permission question as a person sees it, and its answer: plain data, for front ends too.

import type { PermissionRequest } from "@parley/acp";
import type { PermissionScope, RuleSubject } from "../subjects/subject.ts";

/** One possible answer to a question. */
export interface PermissionChoice {
  /** The id to answer with. */
  readonly id: string;
  /** The text to show, such as "Allow once". */
  readonly name: string;
  /** Whether it allows or denies. */
  readonly effect: "allow" | "deny";
  /** How far the answer reaches: once, for this session, in this workspace, always. */
  readonly scope: PermissionScope;
  /** The rules that are remembered, such as "allow write /project/src/a.ts". Absent when nothing is remembered here. */
  readonly rules?: readonly string[];
  /** The option that is sent to the agent. Absent: its question is answered as cancelled. */
  readonly optionId?: string;
  /** Rarely wanted: the agent's own options, and other scopes. To be shown on request. */
  readonly isExtra?: boolean;
}

/**
 * The change of one file.
 *
 * @inline
 */
interface QuestionDiff {
  readonly path: string;
  readonly oldText?: string;
  readonly newText: string;
}

/** What is shown of a question about operations of an agent; plain JSON. */
export interface ShownPermission {
  /** The session that asks. */
  readonly sessionId: string;
  /** One line of text that describes the operations, from facts and not from the agent's words. */
  readonly summary: string;
  /** The operations that are asked about. */
  readonly subjects: readonly RuleSubject[];
  /** Why it is asked; it names the rule, if there is one. */
  readonly reason: string;
  /** Whether it is asked every time, whatever was allowed: a protected file, say. No answer to it is remembered. */
  readonly isAlwaysAsked: boolean;
  /** The agent's own words, safe to show. They may be false. */
  readonly claimed?: { readonly title: string; readonly description?: string };
  /** The rules that would allow it, for users who want to edit one. Absent when no rule can. */
  readonly allowedBy?: readonly string[];
  /** The possible answers, in the order to show them. */
  readonly choices: readonly PermissionChoice[];
  /** The change that a write would make. */
  readonly diff?: QuestionDiff;
  /** The other changes that an agent would make with the same call. */
  readonly moreDiffs?: readonly QuestionDiff[];
  /** The agent's own patch in git's form, instead of `diff`. */
  readonly patch?: string;
  /** The agent's own request, if it made one. */
  readonly request?: PermissionRequest;
  /** Variables that the agent sets for a command. Those that are not harmless are also in its subject. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A question about operations of an agent, until it is answered or withdrawn. */
export interface PermissionQuestion extends ShownPermission {
  /** Aborts when an answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** The answer to a question: the id of a choice. Nothing means that nobody decided. */
export type PermissionReply =
  | string
  | {
      /** The id of a choice. */
      readonly id: string;
      /** Words for the agent, beside a no. */
      readonly said?: string | undefined;
      /**
       * Beside a yes that is remembered: the rule to remember, such as "exec npm **", instead of exactly what was shown. If it
       * does not cover what is asked, it is asked again, with a reason that says so.
       */
      readonly rule?: string | undefined;
      /** Who has decided. Default: the user. */
      readonly by?: "user" | "reviewer" | undefined;
    }
  | undefined;
