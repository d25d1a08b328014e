// Runs an agent scenario, on top of agent().

import {
  type Agent,
  type AgentConnection,
  type AgentDefinition,
  type AgentSession,
  agent,
  type LoginRequest,
  type PromptResult,
  type Turn,
} from "@parley/acp";
import { openMethod } from "@parley/acp/extensions";
import { methodTable } from "@parley/acp/internal";
import { checkOptions, optional } from "@parley/acp/jsonrpc";
import { entryFormat, memoryStore, type SessionStore, serializeEntry } from "@parley/acp/store";
import type { AgentScenario, AgentStep, TurnScript } from "./agent-scenario.ts";
import { runOutsideTurn, runStep } from "./agent-steps.ts";
import { type AgentEvent, type AgentRun, runTurnSteps, stepContext } from "./agent-verbs.ts";
import { checkAgentScenario } from "./check-scenario.ts";
import { type Clock, Gates, realClock } from "./gates.ts";
import { type ProcessControl, ScriptedWire } from "./scripted-wire.ts";

/** The store, clock and process of a scripted agent. */
export interface ScriptedAgentOptions extends Pick<AgentDefinition, "log" | "connection"> {
  /** Stores the sessions. Default: in memory, with the scenario's `sessions`. */
  readonly store?: SessionStore | undefined;
  /** For `delay`. Default: real time. */
  readonly clock?: Clock | undefined;
  /** Controls the agent's own process, for `crash`. Default: the connection is cut. */
  readonly process?: ProcessControl | undefined;
}

/** An agent that follows a scenario. */
export interface ScriptedAgent extends Agent {
  /** The scenario, checked. */
  readonly scenario: AgentScenario;
  /** All events so far, in order. */
  readonly events: readonly AgentEvent[];
  /** Opens a gate. A client may do the same with the notification `_parley.dev/open`, params `{ gate }`. */
  open(gate: string): void;
  /** Resolves when a step waits at this gate. */
  reached(gate: string): Promise<void>;
}

/**
 * Creates an agent that follows a scenario, to test a client with.
 *
 * @param given - The scenario: an object, or parsed JSON.
 * @throws {ScenarioError} When the scenario has a mistake.
 *
 * @example
 * import { client } from "@parley/acp";
 * import { scriptedAgent } from "@parley/conformance/testing";
 * import { memoryPair } from "@parley/acp/transport";
 *
 * const otherwise = [{ say: "I only say this." }];
 * const [left, right] = memoryPair();
 * scriptedAgent({ parley: "agent-scenario", version: 1, otherwise }).connect(left);
 * const connection = await client({ name: "my-client", version: "1.0.0" }).connect(right);
 */
export function scriptedAgent(given: AgentScenario, options: ScriptedAgentOptions = {}): ScriptedAgent {
  checkOptions("scriptedAgent", options, optionKeys);
  const scenario = checkAgentScenario(given);
  const events: AgentEvent[] = [];
  const gates = new Gates();
  const note = (event: AgentEvent) => void events.push(event);
  const { clock = realClock, process, store = storeWith(scenario), ...rest } = options;
  const turnsTaken = new Map<string, number>();
  let loggedIn = false;

  /** Makes an agent() for each connection, which its steps need; the store and the gates are shared. */
  function served(run: AgentRun): Agent {
    const { parley: _p, version: _v, open, turns, otherwise, wire: _w, sessions: _s, ...about } = scenario;
    const { loginRequired, authMethods, ...offers } = about;
    const definition: AgentDefinition = {
      ...rest,
      ...offers,
      name: scenario.name ?? "scripted-agent",
      version: "1.0.0",
      // a scenario may send what no client takes
      connection: { ...rest.connection, limits: { maxSentBytes: Infinity, ...rest.connection?.limits } },
      session: {
        store,
        open(session, { origin }) {
          if (open?.configOptions !== undefined) session.setConfigOptions(open.configOptions);
          if (open?.availableCommands !== undefined) session.setAvailableCommands(open.availableCommands);
          waiting.set(session.sessionId, { session, isNew: origin === "new" });
        },
        setConfigOption(_session, configId, value) {
          note({ event: "option", configId, value });
        },
      },
      prompt: (turn) => play(turn, run),
      auth: {
        ...(loginRequired ? { isLoggedIn: () => loggedIn } : {}),
        ...(authMethods === undefined
          ? {}
          : {
              methods: authMethods,
              login(methodId: string, { credentials }: LoginRequest) {
                loggedIn = true;
                note({ event: "login", methodId, ...optional({ credentials }) });
              },
              logout() {
                loggedIn = false;
              },
            }),
      },
      extensions: {
        notifications: {
          [openMethod](params: unknown) {
            gates.open(String((params as { gate?: unknown } | null)?.gate));
            return undefined;
          },
        },
      },
    };
    return agent(definition);
  }

  /** Sessions whose answer has not been sent yet. */
  const waiting = new Map<string, { readonly session: AgentSession; readonly isNew: boolean }>();

  function opened(sessionId: unknown, run: AgentRun): void {
    const found = waiting.get(String(sessionId));
    if (found === undefined) return;
    const { session, isNew } = found;
    waiting.delete(session.sessionId);
    const { title, steps = [] } = scenario.open ?? {};
    const values = { session: session.sessionId, cwd: session.cwd };
    const named = title !== undefined && isNew ? [{ title }] : [];
    runOutsideTurn([...named, ...steps], { run, session, values });
  }

  function play(turn: Turn, run: AgentRun): Promise<PromptResult> {
    const { session, text } = turn;
    note({ event: "prompt", text });
    const values = { session: session.sessionId, cwd: session.cwd, prompt: text };
    const context = stepContext({ run, session, values }, turn);
    return runTurnSteps(stepsFor(text, session.sessionId), context);
  }

  function stepsFor(text: string, sessionId: string): readonly AgentStep[] {
    const { turns = [], otherwise = [] } = scenario;
    const matching = turns.find((turn) => matches(turn, text));
    if (matching !== undefined) return matching.steps;
    const taken = turnsTaken.get(sessionId) ?? 0;
    turnsTaken.set(sessionId, taken + 1);
    return turns.filter(({ when }) => when === undefined)[taken]?.steps ?? otherwise;
  }

  const connections = new Map<AgentConnection, Agent>();
  async function close(): Promise<void> {
    await Promise.all([...connections.keys()].map((connection) => connection.close("the agent was closed")));
    await store.close();
  }

  return {
    scenario,
    definition: { name: scenario.name ?? "scripted-agent", version: "1.0.0", prompt: () => undefined },
    events,
    open: (gate) => gates.open(gate),
    reached: (gate) => gates.reached(gate),
    async reportAuthStatus() {
      await Promise.all([...connections.values()].map((each) => each.reportAuthStatus()));
    },
    close,
    [Symbol.asyncDispose]: close,
    connect(transport, options) {
      const ended = new AbortController();
      const prompts = new Map<string, PromiseWithResolvers<void>>();
      const afterTurns = new Map<string, (() => void)[]>();
      const turnEnded = (sessionId: unknown) => {
        const work = afterTurns.get(String(sessionId)) ?? [];
        afterTurns.delete(String(sessionId));
        for (const each of work) each();
      };
      const wire = new ScriptedWire(
        transport,
        scenario.wire,
        {
          asked(method, params) {
            if (method !== "session/prompt") return;
            prompts.get(String(params.sessionId))?.resolve();
            prompts.delete(String(params.sessionId));
          },
          answered(method, params, result) {
            if (method === "session/prompt" && connection.edition !== "v2") turnEnded(params.sessionId);
            const named = (result as { sessionId?: unknown } | undefined)?.sessionId ?? params.sessionId;
            if (opens(method)) opened(named, run);
          },
          updated({ sessionId, update }) {
            // a dialect may have no `update`
            const { sessionUpdate, state } = (update ?? {}) as { sessionUpdate?: unknown; state?: unknown };
            if (sessionUpdate === "state_update" && state === "idle") turnEnded(sessionId);
          },
          ended: () => ended.abort(),
        },
        process,
      );
      const run: AgentRun = {
        wire,
        gates,
        clock,
        runStep,
        ended: ended.signal,
        note,
        nextPrompt(sessionId) {
          const next = prompts.get(sessionId) ?? Promise.withResolvers<void>();
          prompts.set(sessionId, next);
          return next.promise;
        },
        afterTurn(sessionId, work) {
          afterTurns.set(sessionId, [...(afterTurns.get(sessionId) ?? []), work]);
        },
      };
      const agentOfIt = served(run);
      const connection = agentOfIt.connect(wire, options);
      connections.set(connection, agentOfIt);
      void connection.closed.then(() => connections.delete(connection));
      return connection;
    },
  };
}

/** Whether the request opens a session. */
function opens(method: unknown): boolean {
  const effect = methodTable.get(method)?.session;
  return effect === "opens" || effect === "attaches";
}

function matches({ when }: TurnScript, text: string): boolean {
  if (when === undefined) return false;
  return typeof when === "string" ? text === when : text.includes(when.contains);
}

/** The memory store waits for nothing, so it is filled before the first message is read. */
function storeWith({ sessions = [] }: AgentScenario): SessionStore {
  const store = memoryStore();
  for (const [at, { sessionId, cwd, title, entries = [] }] of sessions.entries()) {
    // fixed times: the last session is the newest
    const time = Date.UTC(2020, 0, 1) + at * 1000;
    const times = { createdAt: time, updatedAt: time };
    const record = {
      sessionId,
      cwd,
      additionalDirectories: [],
      config: {},
      ...times,
      ...optional({ title }),
    };
    const stored = entries.map((body, index) =>
      serializeEntry({ format: entryFormat, seq: index + 1, time, ...body }),
    );
    void store.create(record).then(async (claim) => {
      await store.append(claim, 0, stored);
      await store.release(claim);
    });
  }
  return store;
}

const optionKeys: Readonly<Record<keyof ScriptedAgentOptions, true>> = {
  log: true,
  connection: true,
  store: true,
  clock: true,
  process: true,
};
