// The permission question: what a person is shown and may answer.

import type { PermissionOption, PermissionRequest, PolicyContext } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { Verdict } from "../rules/decide-by-rules.ts";
import { isThisMachine } from "../rules/host-pattern.ts";
import { type MatchContext, matches } from "../rules/match.ts";
import type { Rule, RuleTarget } from "../rules/rule.ts";
import { ruleText } from "../rules/rule-text.ts";
import { scopesFor, targetOf } from "../rules/scopes.ts";
import { shownLine } from "../subjects/shown-text.ts";
import type { PermissionScope, RuleSubject } from "../subjects/subject.ts";
import type { PermissionChoice, PermissionQuestion } from "./permission-question.ts";

const scopeNames: Readonly<Record<PermissionScope, string>> = {
  once: "once",
  session: "for this session",
  workspace: "always here, for 30 days",
  always: "always and everywhere, for 90 days",
};

/** The answer that allows all edits in this session: the id of its choice. */
export const editsId = "allow:edits";
/** What it remembers. Files that are protected or that a rule asks about are asked about all the same. */
export const editsTarget: RuleTarget = { operation: "write" };

/** What choices depend on beside the subjects. */
export interface ChoiceFacts {
  readonly verdict: Verdict;
  /** Those of the subjects that are asked about. */
  readonly asked: readonly RuleSubject[];
  readonly context: MatchContext;
  /** Whether a directory of the session holds everything: an answer for all of it would say nothing. */
  readonly isWide: boolean;
}

/**
 * `options` are those of an agent that asks; they come last. Of something that is asked every time, they are not shown: only
 * what they say yes and no with.
 */
export function choicesFor(
  subjects: readonly RuleSubject[],
  facts: ChoiceFacts,
  options?: readonly PermissionOption[],
): PermissionChoice[] {
  const { verdict } = facts;
  const ours = (["allow", "deny"] as const).flatMap((effect): PermissionChoice[] => {
    const optionId = options && optionOf(options, effect);
    // only an option of the agent's own says yes
    if (options !== undefined && optionId === undefined && effect === "allow") return [];
    const offered = scopesFor(subjects, verdict).filter((scope) => !isForNothing(effect, scope, subjects));
    const own = offered.map((scope) => ({
      id: `${effect}:${scope}`,
      name: `${effect === "allow" ? "Allow" : "Reject"} ${scopeNames[scope]}`,
      effect,
      scope,
      ...(scope === "once" ? {} : { rules: rulesOf(effect, subjects.map(targetOf)) }),
      ...optional({ optionId }),
      ...(isExtra(effect, scope) ? { isExtra: true } : {}),
    }));
    const edits: PermissionChoice = {
      id: editsId,
      name: "Allow all edits for this session",
      effect,
      scope: "session",
      rules: rulesOf(effect, [editsTarget]),
      ...optional({ optionId }),
    };
    const at = own.findIndex(({ scope }) => scope === "session") + 1;
    return effect === "allow" && isEdit(facts) && at > 0 ? own.toSpliced(at, 0, edits) : own;
  });
  if (options === undefined || verdict.always) return ours;
  // "which of these?" is asked with options too: then they are what it is about
  const isOwnQuestion = subjects.every(({ operation }) => operation === "other" || operation === "mode");
  const theirs = options.map(
    ({ optionId, name, kind }, at): PermissionChoice => ({
      id: `option:${at}`,
      name: shownLine(name, 100) || kind,
      effect: kind.startsWith("allow") ? "allow" : "deny",
      // "always" is the agent's to keep; on our side it lasts as long as the session
      scope: kind.endsWith("_always") ? "session" : "once",
      optionId,
      ...(isOwnQuestion ? {} : { isExtra: true }),
    }),
  );
  return [...ours, ...theirs];
}

function rulesOf(
  effect: PermissionChoice["effect"],
  targets: readonly (RuleTarget | undefined)[],
): readonly string[] {
  const texts = targets.flatMap((target) => (target === undefined ? [] : [`${effect} ${ruleText(target)}`]));
  return [...new Set(texts)];
}

/** Whether only changes are asked about, and the rule for all of them covers these. */
function isEdit({ asked, verdict, context, isWide }: ChoiceFacts): boolean {
  const all: Rule = { ...editsTarget, effect: "allow", origin: "remembered" };
  const isCovered = (subject: RuleSubject): boolean => !subject.deletes && matches(all, subject, context);
  return !verdict.always && !isWide && asked.length > 0 && asked.every(isCovered);
}

/** A command does not reach this machine through its sandbox: a yes is for the commands after it. */
function isForNothing(
  effect: "allow" | "deny",
  scope: PermissionScope,
  subjects: readonly RuleSubject[],
): boolean {
  const isHere = subjects.some(({ origin, host = "" }) => origin === "op" && isThisMachine(host));
  return isHere && effect === "allow" && scope === "once";
}

function isExtra(effect: "allow" | "deny", scope: PermissionScope): boolean {
  return scope === "always" || (effect === "deny" && scope !== "once");
}

/** The option that says no more than it must. Undefined: none says just that, or its id is also that of another. */
export function optionOf(options: readonly PermissionOption[], effect: "allow" | "deny"): string | undefined {
  const ids = new Map<string, number>();
  for (const { optionId } of options) ids.set(optionId, (ids.get(optionId) ?? 0) + 1);
  const of = (kind: string) =>
    options.find((option) => option.kind === kind && ids.get(option.optionId) === 1)?.optionId;
  return effect === "allow" ? of("allow_once") : (of("reject_once") ?? of("reject_always"));
}

/** Asks the user of a client with `requestPermission`. */
export type ClientAsk = NonNullable<PolicyContext["ask"]>;

/** Asks through a client, which shows options of the protocol. Returns the id of the choice for the chosen option. */
export async function askedThrough(
  ask: ClientAsk,
  question: PermissionQuestion,
): Promise<string | undefined> {
  const { choices, request, signal } = question;
  const answer = await ask(request ?? requestFor(question), { signal });
  if (answer.outcome !== "selected") return undefined;
  if (request === undefined) return answer.optionId;
  const [chosen, ...others] = choices.filter(({ optionId }) => optionId === answer.optionId);
  // an option of the agent keeps the meaning that the agent gave it
  const own = others.find(({ id }) => id.startsWith("option:"));
  return (own ?? chosen)?.id;
}

/** Makes the question about an action that the client performs for the agent. */
function requestFor({ summary, reason, choices, subjects }: PermissionQuestion): PermissionRequest {
  const [subject] = subjects;
  const command = subject?.shellLine ?? subject?.argv?.join(" ");
  return {
    title: summary,
    description: reason,
    ...(command === undefined ? {} : { subject: { type: "command", command, cwd: subject?.cwd ?? "" } }),
    options: choices.map(({ id, name, effect, scope }) => ({
      optionId: id,
      name,
      kind: `${effect === "allow" ? "allow" : "reject"}_${scope === "once" ? "once" : "always"}`,
    })),
  };
}
