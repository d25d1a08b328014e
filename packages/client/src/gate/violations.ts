// Finds what an agent did by itself, without asking, against a rule.

import { RequestError, type SessionUpdate } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { ToolCallUpdate } from "@parley/acp/model";
import { claimsOfCall } from "../subjects/claims.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { isToolCallUpdate } from "../subjects/tool-calls.ts";
import type { Authority } from "./authorize.ts";
import type { Decision } from "./decision.ts";
import type { GateState } from "./gate-state.ts";

/** Before the session has taken note of the update that ends a turn. */
export function violationsIn(state: GateState, update: SessionUpdate, authority: Authority): Decision[] {
  return doneCalls(state, update).flatMap((call) => {
    const subjects = saidOf(call, state)
      // a no of ours is not broken by saying what it was about
      .filter((subject) => !state.wasRefused(subject));
    const broken = subjects.flatMap((subject) => {
      const { verdict } = authority.judge(state, [subject]);
      const { effect, rule } = verdict;
      // without a rule about just this, it is for the agent to decide what it asks about
      const isAbout = rule?.operation === "*" || rule?.operation === subject.operation;
      const isUnasked = effect === "ask" && isAbout && !state.wasDecided(subject);
      return effect === "deny" || isUnasked ? [{ subject, verdict }] : [];
    });
    const [first] = broken;
    if (first === undefined) return [];
    const those = broken.map(({ subject }) => subject);
    const { rule, reason } = first.verdict;
    return [state.decision(those, { effect: "violation", by: "agent", reason, ...optional({ rule }) })];
  });
}

type Call = Partial<ToolCallUpdate>;

/** What leads through too many links the system has refused. */
function saidOf(call: Call, state: GateState): RuleSubject[] {
  try {
    return claimsOfCall(call, state.session.cwd);
  } catch (error) {
    if (error instanceof RequestError) return [];
    throw error;
  }
}

/** Calls that have come to an end with this, each once, and that nobody was asked about. */
function doneCalls(state: GateState, update: SessionUpdate): Call[] {
  if (update.sessionUpdate === "state_update" && "state" in update && update["state"] === "idle")
    return state.takeCalls((call) => call.status === "in_progress");
  if (!isToolCallUpdate(update) || update.status !== "completed") return [];
  const { toolCallId } = update;
  return state.takeCalls((_, id) => id === toolCallId);
}
