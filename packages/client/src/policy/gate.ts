// The one place where it is decided what agents may do: questions of agents that run their own tools, and every file
// and command that they ask of this machine.

import { isProtectedPath } from "@parley/acp/node";
import { Effects } from "../services/effects.ts";
import { gatedFiles } from "../services/gated-files.ts";
import { gatedTerminals } from "../services/gated-terminals.ts";
import { answerQuestion } from "./agent-question.ts";
import { Authority } from "./authorize.ts";
import { canonicalPath } from "./canonical-path.ts";
import { DecisionReports } from "./decision-reports.ts";
import type { Decision, Gate, GateOptions } from "./gate-options.ts";
import { type GatedSession, GateSession } from "./gate-session.ts";
import { readVeto, refusedSearches } from "./veto.ts";
import { violationsIn } from "./violations.ts";

export function permissionGate(given: GateOptions = {}): Gate {
  const own = (given.own ?? []).map(canonicalPath);
  const options: GateOptions = { ...given, own };
  const authority = new Authority(options, (path, access) => isProtectedPath(path, access, own));
  const reports = new DecisionReports();
  const effects = new Effects(authority, options.audit, options.agent, (decision) =>
    reports.report(decision),
  );
  const { stateOf, services } = gatedSessions(options, effects);
  const settle = (decision: Decision): void => {
    effects.answered(decision);
    reports.report(decision);
  };
  return {
    async permission(ask, { session, signal }) {
      if (session === undefined) return { outcome: "cancelled" };
      return answerQuestion(ask, stateOf(session), { authority, signal, settle });
    },
    async veto(session, params, signal) {
      const { subjects, isSearch } = readVeto(params, session.cwd);
      const state = stateOf(session);
      const restricts = authority.restricts(state);
      if (isSearch) return { refused: refusedSearches(subjects, state, authority), restricts };
      const decision = await authority.veto(state, subjects, signal);
      settle(decision);
      const { effect, reason } = decision;
      if (effect === "allow") return { refused: [], restricts };
      state.refused(subjects);
      return { refused: subjects.map((_, at) => ({ effect: at, reason })), restricts };
    },
    files: (session) => services(session).files,
    terminals: (session) => services(session).terminals,
    services,
    check: (session, subjects) => authority.verdict(stateOf(session), subjects),
    observe(session, update) {
      const state = stateOf(session);
      // what this update says of a call counts, too; what ends the turn makes it forgotten
      const isEnd = update.sessionUpdate === "state_update";
      if (!isEnd) state.observe(update);
      for (const violation of violationsIn(state, update, authority)) {
        // it has been done: nobody waits for the log
        reports.report(violation);
        effects.answered(violation);
      }
      if (isEnd) state.observe(update);
    },
    cancelled: (session) => stateOf(session).stop(),
    prompted: (session) => stateOf(session).goOn(),
    refusals: reports.refusals,
    violations: reports.violations,
    get refused() {
      return reports.refused;
    },
    onDecision: (listener) => reports.listen(listener),
  };
}

/** What is known of each session, and what it is served, as long as anybody has it. */
function gatedSessions(options: GateOptions, effects: Effects) {
  const states = new WeakMap<GatedSession, GateSession>();
  const served = new WeakMap<GatedSession, ReturnType<Gate["services"]>>();
  const stateOf = (session: GatedSession): GateSession => {
    const state = states.get(session) ?? new GateSession(session, options.extraRoots ?? []);
    states.set(session, state);
    return state;
  };
  const services: Gate["services"] = (session) => {
    const state = stateOf(session);
    const made = served.get(session) ?? {
      files: gatedFiles(state, effects, options),
      terminals: gatedTerminals(state, effects, options),
    };
    served.set(session, made);
    return made;
  };
  return { stateOf, services };
}
