// Answers the permission requests of an agent that runs its own tools.

import type { PermissionOption, PermissionRequest } from "@parley/acp";
import { askedAbout, optional } from "@parley/acp/internal";
import type { PermissionOutcome, ToolCallUpdate } from "@parley/acp/model";
import { canonicalPath } from "../subjects/canonical-path.ts";
import { claimsOf } from "../subjects/claims.ts";
import { shownLine } from "../subjects/shown-text.ts";
import type { Subject } from "../subjects/subject.ts";
import { askedCall } from "../subjects/tool-calls.ts";
import type { Authority, Shown } from "./authorize.ts";
import { type Decision, isLeft } from "./decision.ts";
import type { GateState } from "./gate-state.ts";
import { choicesFor, optionOf } from "./question.ts";
import { scopedOption } from "./scoped-option.ts";

/** In `_meta` of an answer: what the user said beside a no. Our own agent tells its model. */
const saidKey = "parley.dev/said";

export interface Answering {
  readonly authority: Authority;
  readonly signal: AbortSignal;
  /** Writes down what was decided, before it is answered. */
  settle(decision: Decision): void;
  /** What nobody can be asked about here is left to others. */
  readonly leavesQuestions?: boolean;
}

/** Answers a question. Undefined with `leavesQuestions`: it is to be asked, and there is nobody to ask here. */
export async function answerQuestion(
  ask: PermissionRequest,
  state: GateState,
  { authority, signal, settle, leavesQuestions = false }: Answering,
): Promise<PermissionOutcome | undefined> {
  const call = callOf(ask, state);
  const subjects = claimsOf(ask, call, state.session.cwd);
  // as it is now: what is said of the call afterwards was seen by nobody
  const diffs = diffsOf(call);
  const [diff, ...moreDiffs] = diffs;
  const shown: Shown = {
    claimed: claimOf(ask),
    request: ask,
    ...(diff === undefined ? patchOf(call) : { diff, ...(moreDiffs.length > 0 ? { moreDiffs } : {}) }),
    choices: (verdict) => choicesFor(ask, subjects, verdict),
  };
  const { title } = shown.claimed ?? {};
  const { decision, choice } = await authority.decide(state, subjects, () => shown, signal, {
    ...optional({ title }),
  });
  if (leavesQuestions && isLeft(decision)) return undefined;
  const answer = answerFor(ask, decision, scopedOption(ask, choice) ?? choice?.optionId);
  const isAllowed = decision.effect === "allow";
  // only an option of the agent's own says yes
  if (isAllowed && answer.outcome !== "selected")
    settle({ ...decision, effect: "deny", reason: "the agent offers no way to allow just this" });
  else {
    settle(decision);
    if (isAllowed && (decision.by === "user" || decision.by === "reviewer"))
      approve(state, diffs, subjects, authority.now);
  }
  return answer;
}

function claimOf({ title, description }: PermissionRequest): NonNullable<Shown["claimed"]> {
  return {
    title: shownLine(title),
    ...(description == null ? {} : { description: shownLine(description, 1_000) }),
  };
}

function answerFor(
  ask: PermissionRequest,
  { effect, by, said }: Decision,
  chosen: string | undefined,
): PermissionOutcome {
  if (effect === "cancelled") return { outcome: "cancelled" };
  const optionId =
    by === "user" || by === "reviewer"
      ? chosen
      : optionOf(ask.options, effect === "allow" ? "allow" : "deny");
  const meta = said === undefined ? {} : { _meta: { [saidKey]: said } };
  return optionId === undefined
    ? { outcome: "cancelled", ...meta }
    : { outcome: "selected", optionId, ...meta };
}

/** All that is known of the tool call that a question is about. */
function callOf(ask: PermissionRequest, state: GateState): Partial<ToolCallUpdate> | undefined {
  const call = askedCall(ask);
  if (call === undefined) return undefined;
  state.noteCall({ ...askedAbout(state.call(call.toolCallId) ?? {}, call), toolCallId: call.toolCallId });
  state.judged(call.toolCallId);
  return state.call(call.toolCallId);
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

/** What a person answered to a question that was left to others. */
export function rememberAnswer(
  ask: PermissionRequest,
  state: GateState,
  option: PermissionOption,
  { authority, settle }: Pick<Answering, "authority" | "settle">,
): void {
  const call = callOf(ask, state);
  const subjects = claimsOf(ask, call, state.session.cwd);
  const decision = authority.answered(state, subjects, option);
  settle(decision);
  if (decision.effect === "allow") approve(state, diffsOf(call), subjects, authority.now);
}

/** What a person has just allowed need not be asked again when the agent has us do it. */
function approve(
  state: GateState,
  diffs: ReturnType<typeof diffsOf>,
  subjects: readonly Subject[],
  now: number,
): void {
  const contents = new Map(diffs.map(({ path, newText }) => [canonicalPath(path), newText]));
  for (const subject of subjects) {
    if (subject.labelOnly) continue;
    state.approve(subject, subject.path === undefined ? undefined : contents.get(subject.path), now);
  }
}
