// The one place where it is decided what agents may do: questions of agents that run their own tools, and every file
// and command that they ask of this machine.

import type { AskContext, PermissionAnswer, PermissionAsk, ToolCallUpdate } from "@parley/acp";
import { isProtectedPath } from "@parley/acp/node";
import { Effects } from "../services/effects.ts";
import { gatedFiles } from "../services/gated-files.ts";
import { gatedTerminals } from "../services/gated-terminals.ts";
import type { Subject } from "../subject.ts";
import { Authority } from "./authorize.ts";
import { canonicalPath } from "./canonical-path.ts";
import { claimsOf } from "./claims.ts";
import type { Decision, Gate, GateOptions } from "./gate-options.ts";
import { type GatedSession, GateSession } from "./gate-session.ts";
import { choicesFor, optionOf } from "./question.ts";
import { shownLine } from "./shown-text.ts";
import { readVeto } from "./veto.ts";
import { violationsIn } from "./violations.ts";

const maxRefusals = 1_000;

export function permissionGate(given: GateOptions = {}): Gate {
  const own = (given.own ?? []).map(canonicalPath);
  const options: GateOptions = { ...given, own };
  const authority = new Authority(options, (path, access) => isProtectedPath(path, access, own));
  const sessions = new WeakMap<
    GatedSession,
    { state: GateSession; services?: ReturnType<Gate["services"]> }
  >();
  const listeners = new Set<(decision: Decision) => void>();
  const refusals: Decision[] = [];
  const violations: Decision[] = [];
  let refused = 0;
  const report = (decision: Decision): void => {
    if (decision.effect === "violation" && violations.length < maxRefusals) violations.push(decision);
    if (decision.effect === "deny" && decision.by !== "user" && ++refused <= maxRefusals)
      refusals.push(decision);
    for (const listener of listeners) listener(decision);
  };
  const effects = new Effects(authority, options.audit, options.agent, report);

  const known = (session: GatedSession) => {
    const found = sessions.get(session);
    if (found !== undefined) return found;
    const made = { state: new GateSession(session, options.extraRoots ?? []) };
    sessions.set(session, made);
    return made;
  };
  const services = (session: GatedSession) => {
    const entry: { state: GateSession; services?: ReturnType<Gate["services"]> } = known(session);
    entry.services ??= {
      files: gatedFiles(entry.state, effects, options),
      terminals: gatedTerminals(entry.state, effects, options),
    };
    return entry.services;
  };

  return {
    async permission(ask, { session, signal }: AskContext): Promise<PermissionAnswer> {
      if (session === undefined) return { outcome: "cancelled" };
      const { state } = known(session);
      const call = callOf(ask, state);
      const subjects = claimsOf(ask, call, session.cwd);
      // as it is now: what is said of the call afterwards was seen by nobody
      const diffs = diffsOf(call);
      const title = shownLine(ask.title);
      const shown = {
        claimed: {
          title,
          ...(ask.description == null ? {} : { description: shownLine(ask.description, 1_000) }),
        },
        ...(diffs[0] === undefined ? patchOf(call) : { diff: diffs[0] }),
        choices: (verdict: Parameters<typeof choicesFor>[2]) => choicesFor(ask, subjects, verdict),
      };
      const { decision, choice } = await authority.decide(state, subjects, () => shown, signal, { title });
      const answer = answerFor(ask, decision, choice?.optionId);
      // only an option of the agent's own says yes
      const said: Decision =
        decision.effect === "allow" && answer.outcome !== "selected"
          ? { ...decision, effect: "deny", reason: "the agent offers no way to allow just this" }
          : decision;
      effects.answered(said);
      report(said);
      if (said.effect === "allow" && said.by === "user") approve(state, diffs, subjects, authority.now);
      return answer;
    },
    async veto(session, params, signal) {
      const { subjects, isSearch } = readVeto(params, session.cwd);
      const { state } = known(session);
      const restricts = authority.restricts(state);
      if (isSearch) {
        const verdicts = subjects.map((subject) => authority.verdict(state, [subject]));
        const refused = verdicts.flatMap(({ effect, always, reason }, at) =>
          effect === "deny" || (effect === "ask" && always) ? [{ effect: at, reason }] : [],
        );
        return { refused, restricts };
      }
      const decision = await authority.veto(state, subjects, signal);
      effects.answered(decision);
      report(decision);
      if (decision.effect !== "allow") state.refused(subjects);
      const { effect, reason } = decision;
      return {
        refused: effect === "allow" ? [] : subjects.map((_, at) => ({ effect: at, reason })),
        restricts,
      };
    },
    files: (session) => services(session).files,
    terminals: (session) => services(session).terminals,
    services,
    check: (session, subjects) => authority.verdict(known(session).state, subjects),
    observe(session, update) {
      const { state } = known(session);
      // what this update says of a call counts, too; what ends the turn makes it forgotten
      const isEnd = update.sessionUpdate === "state_update";
      if (!isEnd) state.observe(update);
      for (const violation of violationsIn(state, update, authority)) {
        report(violation);
        effects.answered(violation);
      }
      if (isEnd) state.observe(update);
    },
    cancelled: (session) => known(session).state.forgetApprovals(),
    refusals,
    violations,
    get refused() {
      return refused;
    },
    onDecision(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function answerFor(
  ask: PermissionAsk,
  { effect, by }: Decision,
  chosen: string | undefined,
): PermissionAnswer {
  if (effect === "cancelled") return { outcome: "cancelled" };
  const optionId = by === "user" ? chosen : optionOf(ask.options, effect === "allow" ? "allow" : "deny");
  return optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId };
}

/** All that is known of the tool call that a question is about. */
function callOf({ subject }: PermissionAsk, state: GateSession): Partial<ToolCallUpdate> | undefined {
  if (subject?.type !== "tool_call" || !("toolCall" in subject)) return undefined;
  const call = subject.toolCall as ToolCallUpdate;
  state.noteCall(call);
  state.judged(call.toolCallId);
  return state.call(call.toolCallId);
}

/** What the call would change, by itself or by what was said of it before. */
function diffsOf(call: Partial<ToolCallUpdate> | undefined) {
  return (call?.content ?? []).flatMap((each) =>
    each.type === "diff" && typeof each.path === "string" && typeof each.newText === "string"
      ? [
          {
            path: each.path,
            newText: each.newText,
            ...(each.oldText == null ? {} : { oldText: each.oldText }),
          },
        ]
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
  state: GateSession,
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
