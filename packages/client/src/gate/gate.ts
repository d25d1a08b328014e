// The permission gate: decides and performs every question, file access and command of an agent.

import {
  type ClientPolicy,
  ConnectionError,
  type EffectRequest,
  type Files,
  type PolicyContext,
  type PolicyDecision,
  type PolicyRequest,
  RequestError,
  type SessionUpdate,
  type Terminals,
} from "@parley/acp";
import type { Verdict } from "../rules/decide-by-rules.ts";
import { canonicalPath } from "../subjects/canonical-path.ts";
import { commandSubject } from "../subjects/command-subject.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { answerQuestion } from "./agent-question.ts";
import { type Asking, Authority } from "./authorize.ts";
import { commandSandbox, policyOfRules } from "./command-sandbox.ts";
import type { Decision } from "./decision.ts";
import { DecisionReports } from "./decision-reports.ts";
import { Effects, type Prepared } from "./effects.ts";
import type { GateOptions } from "./gate-options.ts";
import { type GateAsking, type GatedSession, GateState } from "./gate-state.ts";
import { gatedFiles } from "./gated-files.ts";
import { gatedTerminals } from "./gated-terminals.ts";
import { readVeto, refusedSearches, type VetoAnswer } from "./veto.ts";
import { violationsIn } from "./violations.ts";

/** The session of a decision, the agent that asks, and a signal that aborts when the decision is no longer needed. */
export interface GateContext extends GateAsking, Pick<PolicyContext, "signal"> {
  /** The session. Answers for the session count as long as you pass the same object. */
  readonly session: GatedSession | undefined;
}

/** Stands between agents and this machine, as the policy of a client: every question and every effect goes through it. */
export interface Gate extends Required<ClientPolicy> {
  /**
   * Decides a request. A permission request is answered with one of its options. An effect is allowed or denied; somebody
   * else performs it.
   */
  decide(request: PolicyRequest, context: GateContext): Promise<PolicyDecision>;
  /** Files and terminals that perform only what is allowed. Close them with the session. */
  services(
    session: GatedSession,
    asking?: GateAsking,
  ): {
    readonly files: Files & { close(): Promise<void> };
    readonly terminals: Terminals & { close(): Promise<void> };
  };
  /** Answers an announcement of an agent. Rejects with RequestError "invalid_params" if it cannot be understood. */
  veto(params: unknown, context: GateContext): Promise<VetoAnswer>;
  /** What the rules say, without asking anybody and without doing anything. */
  check(session: GatedSession, subjects: readonly RuleSubject[]): Verdict;
  /** Notes what an agent says of its tool calls, and reports what it did against a rule without asking. */
  observe(session: GatedSession, update: SessionUpdate): void;
  /** Call it before each prompt. It ends the effect of `cancel`. */
  prompted(session: GatedSession, asking?: GateAsking): void;
  /**
   * The user cancelled: what was allowed and not yet done is not allowed any more, and nothing but reading is done for the
   * session until it is `prompted` again.
   */
  cancel(session: GatedSession): void;
  /** Adds a listener for every decision. Returns a function that removes it. */
  onDecision(listener: (decision: Decision) => void): () => void;
  /** What was refused by a rule, or because nobody could be asked; not what a person refused. The first 1,000. */
  readonly refusals: readonly Decision[];
  /** The number of all refusals. */
  readonly refused: number;
  /** What agents report to have done against a rule without asking. The first 1,000. */
  readonly violations: readonly Decision[];
}

/**
 * Creates a gate from its parts: rules, questions, audit log and sandbox. `permissionPolicy` creates these parts itself. The gate
 * opens nothing, and does not close the parts that it is given.
 *
 * @example
 * import { parsePolicy, permissionGate } from "@parley/client/policy";
 *
 * const { rules } = parsePolicy("allow read src\ndeny exec rm", "user", "my rules");
 * const gate = permissionGate({ rules });
 * const session = { sessionId: "1", cwd: "/project", roots: ["/project"] };
 * const { signal } = new AbortController();
 * console.log(await gate.decide({ type: "read", path: "/project/src/a.ts" }, { session, signal }));
 */
export function permissionGate(given: GateOptions = {}): Gate {
  const own = (given.own ?? []).map((path) => canonicalPath(path));
  const options: GateOptions = { ...given, own };
  const reports = new DecisionReports();
  const authority = new Authority(options);
  const effects = new Effects(authority, options, reports);
  const states = new WeakMap<GatedSession, GateState>();
  const stateOf = (session: GatedSession, asking?: GateAsking): GateState => {
    const state = states.get(session) ?? new GateState(session, options.extraRoots ?? []);
    states.set(session, state);
    if (asking !== undefined) state.asking = { ...state.asking, ...asking };
    return state;
  };
  const permitted = async (request: EffectRequest, state: GateState, asking: Asked): Promise<void> => {
    const wanted = subjectOf(request);
    const { signal } = asking;
    if (request.type === "mcp")
      return effects.perform(state, wanted, async () => nothingToDo(wanted), asking);
    const [files, terminals] = [gatedFiles(state, effects, options), gatedTerminals(state, effects, options)];
    const prepare = (): Promise<Prepared<unknown>> => {
      if (request.type === "read") return files.prepareRead(request.path, { signal });
      if (request.type === "write") return files.prepareWrite(request.path, request.content, { signal });
      return terminals.prepare({ ...request, signal });
    };
    try {
      await effects.decide(state, wanted, prepare, asking);
    } finally {
      await Promise.all([files.close(), terminals.close()]);
    }
  };
  return {
    async decide(request, { session, signal, ask, agent, exactTitles }) {
      if (session === undefined) return { decision: "deny", reason: "it belongs to no session" };
      const state = stateOf(session, { agent, exactTitles });
      if (request.type === "permission") {
        if (request.toolCall !== undefined) state.noteCall(request.toolCall);
        return answerQuestion(request.request, state, effects, { signal, ask });
      }
      try {
        await permitted(request, state, { signal, ask });
        return "allow";
      } catch (error) {
        if (!(error instanceof RequestError || error instanceof ConnectionError)) throw error;
        return { decision: "deny", reason: error.message };
      }
    },
    async veto(params, { session, signal, ...asking }) {
      if (session === undefined) throw new RequestError("session_not_found", "there is no such session");
      const { subjects, isSearch } = readVeto(params, session.cwd);
      const state = stateOf(session, asking);
      const restricts = authority.restricts(state);
      if (isSearch) return { refused: refusedSearches(subjects, state, authority), restricts };
      const rules = authority.rulesInForce(state);
      const sandbox = policyOfRules(rules, state.roots, options, authority.hasPerson(state));
      if (subjects.length === 0) return { refused: [], restricts, sandbox };
      const decision = await authority.veto(state, subjects, { signal });
      effects.settle(state, decision);
      const { effect, reason } = decision;
      if (effect === "allow") return { refused: [], restricts };
      state.refused(subjects);
      return { refused: subjects.map((_, at) => ({ effect: at, reason })), restricts };
    },
    services(session, asking) {
      const state = stateOf(session, asking);
      const sandbox = commandSandbox(state, effects, options);
      return {
        files: gatedFiles(state, effects, options, sandbox?.accept),
        terminals: gatedTerminals(state, effects, options, sandbox?.open),
      };
    },
    check: (session, subjects) => authority.judge(stateOf(session), subjects).verdict,
    observe(session, update) {
      const state = stateOf(session);
      // what this update says of a call counts, too; what ends the turn makes it forgotten
      const isEnd = update.sessionUpdate === "state_update";
      if (!isEnd) state.observe(update);
      for (const violation of violationsIn(state, update, authority)) effects.settle(state, violation);
      if (isEnd) state.observe(update);
    },
    cancel: (session) => stateOf(session).stop(),
    prompted(session, asking) {
      stateOf(session, asking).isStopped = false;
    },
    refusals: reports.refusals,
    violations: reports.violations,
    get refused() {
      return reports.refused;
    },
    onDecision: (listener) => reports.listen(listener),
  };
}

type Asked = Pick<Asking, "signal" | "ask">;

/** An effect that the client performs itself once it is allowed. */
function nothingToDo(subject: RuleSubject): Prepared<void> {
  return { subject, run: async () => undefined };
}

/** What an agent asks for, in its own words. */
function subjectOf(request: EffectRequest): RuleSubject {
  if (request.type === "mcp") {
    const { server, tool: name } = request;
    return { origin: "op", operation: "mcp", tool: { server, name } };
  }
  if (request.type === "execute") {
    const { command, args, cwd } = request;
    return commandSubject("op", command, args, cwd);
  }
  return { origin: "op", operation: request.type, path: request.path };
}
