// Runs a client scenario, on top of client(), and records everything it sees.

import {
  type ClientConnection,
  type ClientDefinition,
  client,
  type PermissionRequest,
  type RequestContext,
  RequestError,
  type Transport,
} from "@parley/acp";
import { checkOptions, optional } from "@parley/acp/jsonrpc";
import { checkClientScenario } from "./check-scenario.ts";
import { type ClientRecord, StableIds, sessionRecord } from "./client-record.ts";
import type { ClientScenario, ClientStep, ElicitationRule, PermissionRule } from "./client-scenario.ts";
import { type ClientRun, runClientStep, stepError, verbOf } from "./client-steps.ts";
import { type Clock, Gates, realClock, untilAborted } from "./gates.ts";
import { scriptedFiles, scriptedTerminals } from "./scripted-services.ts";
import { ScriptedWire } from "./scripted-wire.ts";

/** The clock of a scripted client. */
export interface ScriptedClientOptions extends Pick<ClientDefinition, "log" | "connection"> {
  /** For `delay`. Default: real time. */
  readonly clock?: Clock | undefined;
}

/** A client that follows a scenario. */
export interface ScriptedClient {
  /** The scenario, checked. */
  readonly scenario: ClientScenario;
  /** Runs all steps on this connection, closes it, and returns the record. Never rejects because of the agent. */
  run(transport: Transport): Promise<ClientRecord>;
  /** Opens a gate. */
  open(gate: string): void;
  /** Resolves when a step or an answer waits at this gate. */
  reached(gate: string): Promise<void>;
}

/**
 * Creates a client that follows a scenario, to test an agent with.
 *
 * @param given - The scenario: an object, or parsed JSON.
 * @throws {ScenarioError} When the scenario has a mistake.
 *
 * @example
 * import { spawnTransport } from "@parley/acp/node";
 * import { scriptedClient } from "@parley/conformance/testing";
 *
 * const steps = [{ open: "/project" }, { prompt: "hello" }];
 * const tester = scriptedClient({ parley: "client-scenario", version: 1, steps });
 * const record = await tester.run(spawnTransport("my-agent"));
 * console.log(record.steps);
 */
export function scriptedClient(given: ClientScenario, options: ScriptedClientOptions = {}): ScriptedClient {
  return scriptedClientBy((definition, transport) => client(definition).connect(transport), given, options);
}

/** Connects a scripted client. */
export type Connect = (definition: ClientDefinition, transport: Transport) => Promise<ClientConnection>;

/** The same with another connection under it. */
export function scriptedClientBy(
  connect: Connect,
  given: ClientScenario,
  options: ScriptedClientOptions = {},
): ScriptedClient {
  checkOptions("scriptedClient", options, optionKeys);
  const scenario = checkClientScenario(given);
  const gates = new Gates();
  return {
    scenario,
    open: (gate) => gates.open(gate),
    reached: (gate) => gates.reached(gate),
    run: (transport) => run(scenario, connect, { transport, gates }, options),
  };
}

async function run(
  scenario: ClientScenario,
  connect: Connect,
  { transport, gates }: { readonly transport: Transport; readonly gates: Gates },
  { clock = realClock, ...rest }: ScriptedClientOptions,
): Promise<ClientRecord> {
  const asked: object[] = [];
  const services: object[] = [];
  const texts = new Map(Object.entries(scenario.files ?? {}));
  const ended = new AbortController();
  const wire = new ScriptedWire(transport, scenario.wire, { ended: () => ended.abort() });
  const state: Pick<ClientRun, "sessions" | "steps" | "open" | "atPermission"> = {
    sessions: new Map(),
    steps: [],
    open: [],
    atPermission: new Set(),
  };
  const used = new Map<object, number>();
  const { elicitations, terminals } = scenario;
  const definition: ClientDefinition = {
    ...rest,
    name: scenario.name ?? "scripted-client",
    version: "1.0.0",
    ...optional({
      editions: scenario.editions,
      unstable: scenario.unstable,
      _meta: scenario._meta,
      files: scenario.files && scriptedFiles(texts, (event) => services.push(event)),
      terminals: terminals && scriptedTerminals(terminals, (event) => services.push(event)),
    }),
    async requestPermission(ask, context) {
      const rule = ruleFor(scenario.permissions ?? [], ask.title, used);
      if (context.session !== undefined && state.atPermission.has(context.session)) {
        asked.push({ permission: ask.title, answer: "the prompt is cancelled" });
        context.session.cancel();
        return undefined;
      }
      const optionId = await given(rule, context, gates, (answer) => choice(ask, answer));
      asked.push({
        permission: ask.title,
        options: ask.options.map((option) => option.optionId),
        answer: context.signal.aborted ? "withdrawn" : (optionId ?? "cancel"),
      });
      return optionId;
    },
    ...(elicitations === undefined
      ? {}
      : {
          async elicit(ask, context) {
            const rule = ruleFor(elicitations, ask.message, used) ?? { answer: { action: "cancel" } };
            const answer = (await given(rule, context, gates, (each) => each)) ?? {
              action: "cancel" as const,
            };
            asked.push({ elicitation: ask.message, mode: ask.mode, answer });
            return answer;
          },
          elicitationCompleted: (elicitationId) => void asked.push({ completed: elicitationId }),
        }),
  };

  let agent: ClientConnection | undefined;
  try {
    agent = await connect(definition, wire);
  } catch (error) {
    state.steps.push({ step: "connect", error: stepError(error) });
  }
  if (agent !== undefined) {
    const clientRun: ClientRun = { ...state, agent, wire, gates, clock, ended: ended.signal };
    for (const step of scenario.steps) {
      try {
        await runWithLogin(step, clientRun, scenario);
      } catch (error) {
        state.steps.push({ step: verbOf(step), error: stepError(error) });
      }
    }
    await Promise.all(state.open);
    await agent.close();
  }
  return recordOf();

  function recordOf(): ClientRecord {
    const names = new Map<string, string>();
    for (const [name, { session }] of state.sessions) {
      if (session !== undefined && !names.has(session.sessionId)) names.set(session.sessionId, name);
    }
    // by session, because in version 1 message ids are made up per session
    const sessions = [...state.sessions].map(([name, { entries }]) => [
      name,
      sessionRecord(entries, new StableIds(names)),
    ]);
    const ids = new StableIds(names);
    const record = {
      ...(agent === undefined
        ? {}
        : {
            edition: agent.edition,
            agent: { info: agent.info, capabilities: agent.capabilities, authMethods: agent.authMethods },
          }),
      sessions: Object.fromEntries(sessions),
      steps: ids.stable(state.steps),
      asked: ids.stable(asked),
      services: ids.stable(services),
      files: Object.fromEntries(texts),
    };
    return JSON.parse(JSON.stringify(record)) as ClientRecord; // built above
  }
}

/** The steps whose request a scripted client repeats after a login. */
const repeatable: ReadonlySet<string> = new Set(["open", "load", "resume", "fork", "list", "delete"]);

async function runWithLogin(
  step: ClientStep,
  run: ClientRun,
  { login, credentials }: ClientScenario,
): Promise<void> {
  try {
    await runClientStep(step, run);
  } catch (error) {
    const needsLogin = error instanceof RequestError && error.kind === "auth_required";
    if (login === undefined || !needsLogin || !repeatable.has(verbOf(step))) throw error;
    const isDialect = run.agent.edition !== "v1" && run.agent.edition !== "v2";
    await run.agent.login(login, isDialect ? optional({ credentials }) : {});
    await runClientStep(step, run);
  }
}

function ruleFor<Rule extends PermissionRule | ElicitationRule>(
  rules: readonly Rule[],
  title: string,
  used: Map<object, number>,
): Rule | undefined {
  const rule = rules.find(
    (each) =>
      title.includes(each.when ?? "") && (used.get(each) ?? 0) < (each.times ?? Number.POSITIVE_INFINITY),
  );
  if (rule !== undefined) used.set(rule, (used.get(rule) ?? 0) + 1);
  return rule;
}

/** Waits for the rule's gate and returns its answer; undefined when the question was withdrawn. */
async function given<Answer, Result>(
  rule: { readonly answer: Answer | "never"; readonly gate?: string } | undefined,
  { signal }: RequestContext,
  gates: Gates,
  answerOf: (answer: Answer | undefined) => Result,
): Promise<Result | undefined> {
  if (rule?.gate !== undefined) await untilAborted(gates.pass(rule.gate), signal);
  if (rule?.answer === "never") {
    await untilAborted(new Promise(() => undefined), signal);
    return undefined;
  }
  // as: "never" is handled above
  return answerOf(rule?.answer as Answer | undefined);
}

function choice(
  { options }: PermissionRequest,
  answer: PermissionRule["answer"] = { kind: "allow_once" },
): string | undefined {
  if (typeof answer === "string") return undefined;
  if ("option" in answer) return answer.option;
  return options.find(({ kind }) => kind === answer.kind)?.optionId;
}

const optionKeys: Readonly<Record<keyof ScriptedClientOptions, true>> = {
  log: true,
  connection: true,
  clock: true,
};
