// Answers the permission requests of an agent that runs its own tools.

import type { PermissionRequest } from "@parley/acp";
import { refusalKey, ruleKey, saidKey, scopeKey } from "@parley/acp/extensions";
import { askedAbout, operationSubject } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";
import type { PermissionOutcome, ToolCallUpdate } from "@parley/acp/model";
import { ruleText } from "../rules/rule-text.ts";
import { canonicalPath } from "../subjects/canonical-path.ts";
import { claimsOf } from "../subjects/claims.ts";
import { shownLine } from "../subjects/shown-text.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { titledClaims } from "../subjects/titled-claims.ts";
import { askedCall } from "../subjects/tool-calls.ts";
import type { Asking, Shown } from "./authorize.ts";
import type { Decision } from "./decision.ts";
import type { Effects } from "./effects.ts";
import type { GateState } from "./gate-state.ts";
import type { PermissionChoice } from "./permission-question.ts";
import { optionOf } from "./question.ts";
import { scopedOption } from "./scoped-option.ts";

export async function answerQuestion(
  ask: PermissionRequest,
  state: GateState,
  effects: Effects,
  asking: Pick<Asking, "signal" | "ask">,
): Promise<PermissionOutcome> {
  const call = callOf(ask, state);
  const subjects = claimsIn(ask, call, state);
  // as it is now: what is said of the call afterwards was seen by nobody
  const diffs = diffsOf(call);
  const [diff, ...moreDiffs] = diffs;
  const claimed = claimOf(ask);
  const shown: Shown = {
    claimed,
    request: ask,
    ...(diff === undefined ? patchOf(call) : { diff, ...(moreDiffs.length > 0 ? { moreDiffs } : {}) }),
  };
  const { authority } = effects;
  const words = effects.trustsWords ? claimed.description : undefined;
  const { decision, choice } = await authority.decide(state, subjects, {
    ...asking,
    show: () => shown,
    title: claimed.title,
    words,
  });
  const answer = answerFor(ask, decision, choice);
  const isAllowed = decision.effect === "allow";
  // only an option of the agent's own says yes
  const settled: Decision =
    isAllowed && answer.outcome !== "selected"
      ? { ...decision, isAnswer: true, effect: "deny", reason: "the agent offers no way to allow just this" }
      : { ...decision, isAnswer: true };
  effects.settle(state, settled);
  if (settled.effect === "allow" && isAnswered(decision)) approve(state, diffs, subjects, authority.now);
  return answer;
}

/** Somebody was asked, and chose. */
function isAnswered({ by }: Decision): boolean {
  return by === "user" || by === "reviewer";
}

function claimOf({ title, description }: PermissionRequest): NonNullable<Shown["claimed"]> {
  return {
    title: shownLine(title),
    ...(description == null ? {} : { description: shownLine(description, 1_000) }),
  };
}

function answerFor(
  ask: PermissionRequest,
  decision: Decision,
  choice: PermissionChoice | undefined,
): PermissionOutcome {
  const { effect } = decision;
  if (effect === "cancelled") return { outcome: "cancelled" };
  const optionId = isAnswered(decision)
    ? (scopedOption(ask, choice) ?? choice?.optionId)
    : optionOf(ask.options, effect === "allow" ? "allow" : "deny");
  const meta = metaOf(decision, choice);
  return optionId === undefined
    ? { outcome: "cancelled", ...meta }
    : { outcome: "selected", optionId, ...meta };
}

function metaOf(decision: Decision, choice: PermissionChoice | undefined): Pick<PermissionOutcome, "_meta"> {
  const { effect, by, said, reason, rule, remembered } = decision;
  const isAllowed = effect === "allow";
  // an option of the agent's own has a name that says it
  const scope = by === "user" && choice?.id.startsWith("option:") === false ? choice.scope : undefined;
  const kept = by === "rule" && isAllowed && rule !== undefined ? [rule] : (remembered ?? []);
  const refusal = said === undefined ? reason : `the ${by} said: ${said}`;
  const meta = {
    ...(by === "user" && said !== undefined && { [saidKey]: said }),
    ...(by !== "user" && !isAllowed && { [refusalKey]: refusal }),
    ...(scope !== undefined && { [scopeKey]: scope }),
    ...(kept.length > 0 && { [ruleKey]: kept.map((each) => `${each.effect} ${ruleText(each)}`).join("; ") }),
  };
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** What the agent says that it will do. */
function claimsIn(
  ask: PermissionRequest,
  call: Partial<ToolCallUpdate> | undefined,
  state: GateState,
): RuleSubject[] {
  const { cwd } = state.session;
  const claims = claimsOf(ask, call, cwd);
  return state.asking.exactTitles === true ? titledClaims(claims, call, cwd) : claims;
}

/** All that is known of the tool call that a question is about. */
function callOf(ask: PermissionRequest, state: GateState): Partial<ToolCallUpdate> | undefined {
  const call = askedCall(ask);
  if (call === undefined) return callOfOperation(ask, state);
  state.noteCall({ ...askedAbout(state.call(call.toolCallId) ?? {}, call), toolCallId: call.toolCallId });
  state.judged(call.toolCallId);
  return state.call(call.toolCallId);
}

/** A question about an operation may name the call that it belongs to. */
function callOfOperation(ask: PermissionRequest, state: GateState): Partial<ToolCallUpdate> | undefined {
  const toolCallId = operationSubject(ask.subject)?.toolCallId;
  if (toolCallId === undefined) return undefined;
  state.judged(toolCallId);
  return state.call(toolCallId);
}

/** What the call would change, by itself or by what was said of it before. */
function diffsOf(call: Partial<ToolCallUpdate> | undefined) {
  return (call?.content ?? []).flatMap((each) =>
    each.type === "diff" && typeof each.path === "string" && typeof each.newText === "string"
      ? [{ path: each.path, newText: each.newText, ...optional({ oldText: each.oldText ?? undefined }) }]
      : [],
  );
}

/** Of an agent that gives no texts; a person sees it, and nothing else is concluded from it. */
function patchOf(call: Partial<ToolCallUpdate> | undefined): { readonly patch?: string } {
  for (const each of call?.content ?? []) {
    if (each.type === "diff" && typeof each.patch?.text === "string") return { patch: each.patch.text };
  }
  return {};
}

/** What a person has just allowed need not be asked again when the agent has us do it. */
function approve(
  state: GateState,
  diffs: ReturnType<typeof diffsOf>,
  subjects: readonly RuleSubject[],
  now: number,
): void {
  const contents = new Map(diffs.map(({ path, newText }) => [canonicalPath(path), newText]));
  for (const subject of subjects) {
    if (subject.labelOnly) continue;
    state.approve(subject, subject.path === undefined ? undefined : contents.get(subject.path), now);
  }
}
