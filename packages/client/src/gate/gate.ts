// The permission gate: decides and performs every question, file access and command of an agent.

import { type ClientDefinition, type ClientPolicy, RequestError, type SessionUpdate } from "@parley/acp";
import type { Verdict } from "../rules/decide-by-rules.ts";
import { canonicalPath } from "../subjects/canonical-path.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { answerQuestion } from "./agent-question.ts";
import { Authority } from "./authorize.ts";
import { commandSandbox, policyOfRules } from "./command-sandbox.ts";
import type { Decision } from "./decision.ts";
import { DecisionReports } from "./decision-reports.ts";
import { Effects } from "./effects.ts";
import type { GateOptions } from "./gate-options.ts";
import { type GatedSession, GateState } from "./gate-state.ts";
import { type GatedFiles, gatedFiles } from "./gated-files.ts";
import { type GatedTerminals, gatedTerminals } from "./gated-terminals.ts";
import { permitTool, policyOf } from "./policy-of-gate.ts";
import { readVeto, refusedSearches, type VetoAnswer } from "./veto.ts";
import { violationsIn } from "./violations.ts";

/** Stands between agents and this machine: every question and every effect goes through it. */
export interface Gate extends Pick<DecisionReports, "refusals" | "refused" | "violations"> {
  /** For a client's definition: answers `session/request_permission`. */
  readonly permission: NonNullable<ClientDefinition["requestPermission"]>;
  /** For a client's definition. The same for the same session object. */
  services(session: GatedSession): { readonly files: GatedFiles; readonly terminals: GatedTerminals };
  /** For a client's definition: rejects with RequestError "permission_denied" for a tool of the client that may not run. */
  readonly tool: NonNullable<ClientDefinition["permitTool"]>;
  /** Answers `_parley.dev/veto` of a session: what an agent would do without asking. Rejects with RequestError "invalid_params". */
  veto(session: GatedSession, params: unknown, signal: AbortSignal): Promise<VetoAnswer>;
  /** What the rules say, without asking anybody and without doing anything. */
  check(session: GatedSession, subjects: readonly RuleSubject[]): Verdict;
  /** Tells the gate what a session says: a question may name a tool call by its id alone. */
  observe(session: GatedSession, update: SessionUpdate): void;
  /**
   * The user cancelled: what was allowed and not yet done is not allowed any more, and nothing but reading is done for the
   * session until it is `prompted` again.
   */
  cancelled(session: GatedSession): void;
  /** The user wants something of it again. */
  prompted(session: GatedSession): void;
  onDecision(listener: (decision: Decision) => void): () => void;
  /** Decides for a client that wires nothing else of the gate. */
  readonly policy: Required<ClientPolicy>;
}

/** `reports` may be those of several gates. */
export function permissionGate(
  given: GateOptions = {},
  reports: DecisionReports = new DecisionReports(),
): Gate {
  const own = (given.own ?? []).map((path) => canonicalPath(path));
  const options: GateOptions = { ...given, own };
  const authority = new Authority(options);
  const effects = new Effects(authority, options, reports);
  const { stateOf, services } = gatedSessions(options, effects);
  return {
    async permission(ask, { session, signal }) {
      if (session === undefined) return { outcome: "cancelled" };
      const answered = await answerQuestion(ask, stateOf(session), effects, signal);
      return answered?.answer ?? { outcome: "cancelled" };
    },
    async tool(call, { session, signal }) {
      if (session === undefined)
        throw RequestError.permissionDenied("permission denied: it belongs to no session");
      await permitTool(call, stateOf(session), signal, effects);
    },
    async veto(session, params, signal) {
      const { subjects, isSearch } = readVeto(params, session.cwd);
      const state = stateOf(session);
      const restricts = authority.restricts(state);
      if (isSearch) return { refused: refusedSearches(subjects, state, authority), restricts };
      const sandbox = policyOfRules(authority.rulesInForce(state), state.roots, options);
      if (subjects.length === 0) return { refused: [], restricts, sandbox };
      const decision = await authority.veto(state, subjects, signal);
      effects.settle(decision);
      const { effect, reason } = decision;
      if (effect === "allow") return { refused: [], restricts };
      state.refused(subjects);
      return { refused: subjects.map((_, at) => ({ effect: at, reason })), restricts };
    },
    services,
    check: (session, subjects) => authority.verdict(stateOf(session), subjects),
    observe(session, update) {
      const state = stateOf(session);
      // what this update says of a call counts, too; what ends the turn makes it forgotten
      const isEnd = update.sessionUpdate === "state_update";
      if (!isEnd) state.observe(update);
      for (const violation of violationsIn(state, update, authority)) effects.settle(violation);
      if (isEnd) state.observe(update);
    },
    cancelled: (session) => stateOf(session).stop(),
    prompted(session) {
      stateOf(session).isStopped = false;
    },
    refusals: reports.refusals,
    violations: reports.violations,
    get refused() {
      return reports.refused;
    },
    onDecision: (listener) => reports.listen(listener),
    policy: policyOf(stateOf, effects, options),
  };
}

/** What is known of each session, and what it is served, as long as anybody has it. */
function gatedSessions(options: GateOptions, effects: Effects) {
  const states = new WeakMap<GatedSession, GateState>();
  const served = new WeakMap<GatedSession, ReturnType<Gate["services"]>>();
  const stateOf = (session: GatedSession): GateState => {
    const state = states.get(session) ?? new GateState(session, options.extraRoots ?? []);
    states.set(session, state);
    return state;
  };
  const services: Gate["services"] = (session) => {
    const known = served.get(session);
    if (known !== undefined) return known;
    const state = stateOf(session);
    const sandbox = commandSandbox(state, effects, options);
    const made = {
      files: gatedFiles(state, effects, options, sandbox?.accept),
      terminals: gatedTerminals(state, effects, options, sandbox?.open),
    };
    served.set(session, made);
    return made;
  };
  return { stateOf, services };
}
