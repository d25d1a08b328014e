// Decides about subjects: by the rules, by a recent approval, or by asking a person.

import { askedBy, optional } from "@parley/acp/jsonrpc";
import { isProtectedPath } from "@parley/sandbox/paths";
import { type Circumstances, decideByRules, strictest, type Verdict } from "../rules/decide-by-rules.ts";
import { isInForce, matches } from "../rules/match.ts";
import { type Rule, RuleError, type RuleOperation, type RuleTarget } from "../rules/rule.ts";
import { parseRule, ruleOperations } from "../rules/rule-text.ts";
import { ruleFor, targetOf } from "../rules/scopes.ts";
import { shownLine } from "../subjects/shown-text.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { summaryOfAll } from "../subjects/summary.ts";
import type { Decision } from "./decision.ts";
import type { GateOptions } from "./gate-options.ts";
import type { GateState } from "./gate-state.ts";
import type { PermissionChoice, PermissionQuestion, PermissionReply } from "./permission-question.ts";
import {
  askedThrough,
  type ChoiceFacts,
  type ClientAsk,
  choicesFor,
  editsId,
  editsTarget,
} from "./question.ts";

const defaultAnswerMs = 10 * 60_000;
/** Questions that one session may have open. */
const maxOpen = 16;
/** How often a question is asked because the rule in its answer could not be kept. */
const maxRounds = 10;

/** Details that a person is shown in addition to the subjects. */
export type Shown = Pick<PermissionQuestion, "claimed" | "diff" | "moreDiffs" | "patch" | "env" | "request">;

export interface Authorized {
  readonly decision: Decision;
  /** What a person chose. */
  readonly choice?: PermissionChoice;
  /** Whether the target changed while the question was open. The answer then has no effect and is not remembered. */
  readonly isChanged?: boolean;
}

/** What the rules say about subjects that are decided together. */
interface Judged {
  readonly subjects: readonly RuleSubject[];
  /** The verdict on each subject. */
  readonly verdicts: readonly Verdict[];
  /** The strictest of these verdicts. */
  readonly verdict: Verdict;
}

type Person = (question: PermissionQuestion) => Promise<PermissionReply>;

/** How to ask about subjects, if a question is needed. */
export interface Asking {
  readonly signal: AbortSignal;
  /** Asks the user of the client. Default: the `ask` of the session. */
  readonly ask?: ClientAsk | undefined;
  show?(): Promise<Shown> | Shown;
  /** The text that a write would write. */
  readonly content?: string | undefined;
  readonly title?: string | undefined;
  /** Goes before the reason of the question. */
  readonly why?: string | undefined;
  /** The reason of the question if no rule has one. Our own agent gives it. */
  readonly words?: string | undefined;
  /** Whether the target is still as the person was shown. */
  isSame?(): Promise<boolean>;
}

interface Answer {
  readonly choice: PermissionChoice;
  readonly by: "user" | "reviewer";
  readonly said?: string;
  /** The rule to remember instead of the one that was shown. */
  readonly target?: RuleTarget;
}

export class Authority {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  get now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** Evaluates the rules as they are now. */
  judge(state: GateState, subjects: readonly RuleSubject[]): Judged {
    const { own = [] } = this.#options;
    const circumstances: Circumstances = {
      ...state.context(this.now),
      rules: this.rules(state),
      own,
      isProtected: (path, access) => isProtectedPath(path, access, own, state.roots),
      wide: state.wide,
    };
    const verdicts = subjects.map((subject) => decideByRules(subject, circumstances));
    const nothing: Verdict = { effect: "ask", reason: "the agent does not say what it is" };
    return { subjects, verdicts, verdict: strictest(verdicts) ?? nothing };
  }

  /** All rules of the session, including those that have expired. */
  rules(state: GateState): readonly Rule[] {
    const { rules = [], remembered } = this.#options;
    const workspace = this.#options.workspaceRules?.(state.roots[0] ?? state.session.cwd) ?? [];
    const before = this.#options.sessionRules?.(state.session.sessionId) ?? [];
    return [...rules, ...workspace, ...(remembered?.list() ?? []), ...before, ...state.answers];
  }

  /** The rules without those that have expired, are for other workspaces, or allow something in the name of a workspace. */
  rulesInForce(state: GateState): readonly Rule[] {
    const context = state.context(this.now);
    return this.rules(state).filter(
      (rule) => isInForce(rule, context) && !(rule.effect === "allow" && rule.origin === "workspace"),
    );
  }

  /** The operations that rules deny or ask about, for an agent that runs its own tools. */
  restricts(state: GateState): readonly RuleOperation[] {
    const strict = this.rulesInForce(state).filter((rule) => rule.effect !== "allow");
    return ruleOperations.filter(
      (each) => each !== "*" && strict.some(({ operation }) => operation === "*" || operation === each),
    );
  }

  /** The rules that would have allowed it without a question, for a run without a user. */
  #allowedBy(state: GateState, { subjects, verdicts }: Judged): Pick<Decision, "allowedBy"> {
    const rules = subjects.flatMap((subject, at) =>
      verdicts[at]?.effect !== "ask" ? [] : [verdicts[at].always ? undefined : ruleFor(subject, state.roots)],
    );
    return rules.length > 0 && rules.every((rule) => rule !== undefined)
      ? { allowedBy: [...new Set(rules)] }
      : {};
  }

  /** Decides. It evaluates the rules once, and a second time only if a question was answered meanwhile. */
  async decide(
    state: GateState,
    subjects: readonly RuleSubject[],
    asking: Asking,
    judged = this.judge(state, subjects),
  ): Promise<Authorized> {
    const { verdict } = judged;
    const { rule } = verdict;
    const { stops } = state;
    const facts = { summary: summaryOfAll(subjects, asking.title), ...optional({ rule }) };
    const decided = (
      effect: Decision["effect"],
      by: Decision["by"],
      reason = verdict.reason,
      more: Partial<Decision> = {},
    ): Authorized => ({ decision: state.decision(subjects, { ...facts, effect, by, reason, ...more }) });
    const tooLate = (): Authorized => decided("cancelled", "user", tooLateReason);
    if (isTooLate(state, subjects)) return tooLate();
    if (verdict.effect !== "ask") return decided(verdict.effect, rule === undefined ? "default" : "rule");
    const [only] = subjects;
    if (only?.origin === "op" && subjects.length === 1 && state.takeApproval(only, asking.content, this.now))
      return decided("allow", "approval", "you have just allowed the agent exactly this");
    const { reviewer } = this.#options;
    const person = this.#person(state, asking);
    const nobody = (): Authorized =>
      decided("deny", "nobody", `nobody is there to ask: ${verdict.reason}`, this.#allowedBy(state, judged));
    if (person === undefined && reviewer === undefined) return nobody();
    const { questions } = state;
    if (questions.list.length >= maxOpen)
      return decided("deny", "default", `${maxOpen} questions of this session are open already`);
    const { answerMs: ms = defaultAnswerMs } = this.#options;
    const answer = await askedBy(questions, { signal: asking.signal, ms }, undefined, (signal) =>
      this.#ask(state, judged, { ...asking, signal }, person),
    );
    if (asking.signal.aborted) return decided("cancelled", "nobody", "it was cancelled");
    // for safety: an answer that comes after the cancel allows nothing, whatever has been prompted since
    if (isTooLate(state, subjects, stops)) return tooLate();
    if (answer === undefined)
      return person === undefined ? nobody() : decided("cancelled", "nobody", "nobody answered");
    const { choice, said, by, target } = answer;
    const { effect, scope } = choice;
    // for safety: the rules may have changed while the question was open, and a rule that denies now wins
    const since = this.judge(state, subjects).verdict;
    if (since.effect === "deny") return decided("deny", "rule", since.reason, optional({ rule: since.rule }));
    if (effect === "allow" && (await asking.isSame?.()) === false)
      return { ...decided("cancelled", "user", "it changed while it was asked about"), isChanged: true };
    if (isTooLate(state, subjects, stops)) return tooLate();
    const remembered = this.#remember(state, subjects, choice, target);
    const kept = { scope, ...optional({ said, remembered }) };
    if (by === "user") return { ...decided(effect, by, `you answered: ${choice.name}`, kept), choice };
    const words = `the reviewer answered: ${said === undefined ? choice.name : shownLine(said)}`;
    // a rule that allows it would be applied before the reviewer is asked
    const instead = effect === "deny" ? this.#allowedBy(state, judged) : {};
    return { ...decided(effect, by, words, { ...kept, ...instead }), choice };
  }

  /**
   * Decides about an action that an agent announces. Only rules that deny or ask count. Nothing is remembered, and
   * the decision does not allow the agent to have us perform the action.
   */
  async veto(state: GateState, subjects: readonly RuleSubject[], asking: Asking): Promise<Decision> {
    const judged = this.judge(state, subjects);
    const { verdict } = judged;
    if (verdict.effect === "ask" && !verdict.always && !isTooLate(state, subjects)) {
      const reason = "no rule applies to it; the agent decided";
      return state.decision(subjects, { effect: "allow", by: "agent", reason });
    }
    return (await this.decide(state, subjects, asking, judged)).decision;
  }

  /** The person to ask: that of the gate, else that of the client. */
  #person(state: GateState, { ask = state.asking.ask }: Pick<Asking, "ask">): Person | undefined {
    const { asker } = this.#options;
    if (asker?.permission !== undefined) return async (question) => asker.permission?.(question);
    return ask && ((question) => askedThrough(ask, question));
  }

  /** Whether anybody could be asked. */
  hasPerson(state: GateState): boolean {
    return this.#person(state, {}) !== undefined;
  }

  /** Asks the reviewer and the person. Undefined if nobody chose. */
  async #ask(
    state: GateState,
    judged: Judged,
    { show, signal, title, why, words }: Asking,
    person: Person | undefined,
  ): Promise<Answer | undefined> {
    const { reviewer, remembered } = this.#options;
    const { subjects, verdicts, verdict } = judged;
    const shown = await show?.();
    // without a store for answers, only choices for once and for the session are offered
    const facts: ChoiceFacts = {
      verdict,
      asked: subjects.filter((_, at) => verdicts[at]?.effect === "ask"),
      context: state.context(this.now),
      isWide: state.wide.length > 0,
    };
    const choices = choicesFor(subjects, facts, shown?.request?.options).filter(
      ({ scope }) => remembered !== undefined || scope === "once" || scope === "session",
    );
    const isPrecise = verdict.rule !== undefined || (verdict.always && !verdict.isGeneral);
    const cause = isPrecise ? verdict.reason : (words ?? verdict.reason);
    let reason = why === undefined ? cause : `${why}; ${cause}`;
    for (let round = 0; round < maxRounds; round++) {
      const question: PermissionQuestion = {
        sessionId: state.session.sessionId,
        summary: summaryOfAll(subjects, title),
        subjects,
        reason,
        isAlwaysAsked: verdict.always === true,
        ...this.#allowedBy(state, judged),
        ...shown,
        choices,
        signal,
      };
      // the reviewer does not answer questions that are always asked: only the person may
      const reply =
        (verdict.always || round > 0 ? undefined : await reviewer?.(question)) ?? (await person?.(question));
      const { id, said, rule, by = "user" } = typeof reply === "object" ? reply : { id: reply };
      const choice = choices.find((each) => each.id === id);
      if (choice === undefined) return undefined;
      const usual = choice.id === editsId ? editsTarget : undefined;
      const target = rule === undefined ? usual : this.#editedTarget(rule, choice, state, judged);
      if (typeof target !== "string") return { choice, by, ...optional({ said, target }) };
      reason = `${target}; ${cause}`;
    }
    return undefined;
  }

  /** The rule that a person edited. Returns a text that says what is wrong if the rule cannot be kept. */
  #editedTarget(
    text: string,
    { effect }: PermissionChoice,
    state: GateState,
    { subjects, verdicts }: Judged,
  ): RuleTarget | string {
    try {
      const rule = parseRule(text, { effect, origin: "remembered" });
      const missed = subjects.find(
        (subject, at) => verdicts[at]?.effect === "ask" && !matches(rule, subject, state.context(this.now)),
      );
      const { operation, pattern } = rule;
      if (missed === undefined) return { operation, ...optional({ pattern }) };
      return `the rule ${shownLine(text)} was not kept, because it does not cover what is asked`;
    } catch (error) {
      if (error instanceof RuleError) return `the rule was not kept: ${shownLine(error.message, 500)}`;
      throw error;
    }
  }

  /** Remembers an answer for its scope. Returns the rules that it made. */
  #remember(
    state: GateState,
    subjects: readonly RuleSubject[],
    { effect, scope }: Pick<PermissionChoice, "effect" | "scope">,
    edited?: RuleTarget,
  ): readonly Rule[] {
    if (scope === "once") return [];
    const { remembered } = this.#options;
    const { workspace } = state;
    const targets = edited === undefined ? subjects.map(targetOf) : [edited];
    return targets.flatMap((target): readonly Rule[] => {
      if (target === undefined) return [];
      if (scope !== "session" && remembered !== undefined)
        return [remembered.add({ ...target, effect, scope, ...(scope === "workspace" && { workspace }) })];
      const rule: Rule = { ...target, effect, origin: "remembered", scope: "session" };
      state.answers.push(rule);
      return [rule];
    });
  }
}

export const tooLateReason = "the user has cancelled, and nothing more is done until the next prompt";

/**
 * The user has cancelled, and what is more than reading is not done any more. `since`: nor has the user cancelled since
 * there were so many stops.
 */
export function isTooLate(state: GateState, subjects: readonly RuleSubject[], since = state.stops): boolean {
  const isOver = state.isStopped || state.stops !== since;
  return isOver && subjects.some(({ operation }) => operation !== "read");
}
