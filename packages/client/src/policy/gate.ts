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
  let refused = 0;
  const report = (decision: Decision): void => {
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
    files: (session) => services(session).files,
    terminals: (session) => services(session).terminals,
    services,
    check: (session, subjects) => authority.verdict(known(session).state, subjects),
    observe: (session, update) => known(session).state.observe(update),
    cancelled: (session) => known(session).state.forgetApprovals(),
    refusals,
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
  const optionId = by === "user" ? chosen : optionOf(ask.options, effect);
  return optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId };
}

/** All that is known of the tool call that a question is about. */
function callOf({ subject }: PermissionAsk, state: GateSession): Partial<ToolCallUpdate> | undefined {
  if (subject?.type !== "tool_call" || !("toolCall" in subject)) return undefined;
  const call = subject.toolCall as ToolCallUpdate;
  state.noteCall(call);
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
