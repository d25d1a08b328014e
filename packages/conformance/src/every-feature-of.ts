// The session with everything, for any pair of editions: what an edition has no words for is left out, and what the
// dialects add is there.

import type { NamedEdition } from "@parley/dialects";
import { everyFeature } from "./every-feature.ts";
import type { AgentScenario, AgentStep } from "./testing/agent-scenario.ts";
import type { ClientScenario, ClientStep } from "./testing/client-scenario.ts";

const isDialect = (edition: NamedEdition): boolean => edition === "pharo" || edition === "scoped";

/** Dialects have no methods for these. */
const onlyVersions: ReadonlySet<string> = new Set(["fork", "close", "resume", "delete", "list", "logout"]);

/** Each scope of an answer, and both ways to refuse. */
const scopes = [
  { optionId: "once", name: "Allow once", kind: "allow_once" },
  { optionId: "session", name: "Allow for this session", kind: "allow_always" },
  { optionId: "workspace", name: "Allow in this workspace", kind: "allow_always" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject_once", name: "Reject", kind: "reject_once" },
  { optionId: "reject_always", name: "Always reject", kind: "reject_always" },
] as const;

const operations: readonly AgentStep[] = scopes.map(({ optionId }) => ({
  ask: {
    title: `file_write: /project/${optionId}.txt`,
    subject: {
      type: "_operation",
      operation: "file_write",
      resource: `/project/${optionId}.txt`,
      reason: "The user wants it.",
    },
    options: [...scopes],
  },
  on: { allowed: [{ say: `Allowed: ${optionId}. ` }], refused: [{ say: `Refused: ${optionId}. ` }] },
}));

const richServices: readonly AgentStep[] = [
  { read: "/project/a.txt", encoding: "base64" },
  { write: "/project/a.txt", content: "not written", overwrite: false },
  { write: "/project/fresh.txt", content: "fresh\n", overwrite: false },
  { write: "/project/coded.txt", content: "Y29kZWQK", encoding: "base64" },
  { run: { command: "make", args: ["all"], timeoutMs: 60_000 } },
  { run: { command: "sleep", args: ["forever"], timeoutMs: 20 }, ops: ["wait", "output", "release"] },
  {
    run: { command: "sleep", args: ["forever"] },
    ops: [{ waitMs: 20 }, { signal: "SIGINT" }, "kill", "wait", "output", "release"],
  },
];

/** The value of an option that is neither a text nor a boolean. */
const limits = { type: "_json" as const, configId: "limits", name: "Limits", currentValue: { tokens: 5 } };

const added: readonly ClientStep[] = [
  { prompt: "operations" },
  { prompt: "rich services" },
  { setConfigOption: "limits", value: { tokens: 9, hosts: ["a", null] } },
  { setConfigOption: "limits", value: 7 },
  { setMode: "code" },
];

/**
 * An agent and a client that use every feature which these two editions have, and what the dialects add.
 *
 * @param clientEdition - The edition of the client.
 * @param agentEdition - The edition of the agent; between two editions is a relay.
 *
 * @example
 * import { scriptedAgent, scriptedClient } from "@parley/conformance/testing";
 * import { memoryPair } from "@parley/acp/transport";
 * import { everyFeatureOf } from "@parley/conformance";
 * import { scoped } from "@parley/dialects";
 *
 * const { agent, client } = everyFeatureOf("scoped", "scoped");
 * const [left, right] = memoryPair();
 * scriptedAgent({ ...agent, editions: [scoped()] }).connect(left);
 * const record = await scriptedClient({ ...client, editions: [scoped()] }).run(right);
 * console.log(record.steps);
 */
export function everyFeatureOf(
  clientEdition: NamedEdition,
  agentEdition: NamedEdition,
): { readonly agent: AgentScenario; readonly client: ClientScenario } {
  const { agent, client } = everyFeature;
  if (!isDialect(clientEdition) && !isDialect(agentEdition)) return everyFeature;
  // an agent of pharo lists no options: only a client that knows them can set them
  const canSet = agentEdition !== "pharo" || clientEdition === "pharo";
  const open = { ...agent.open, configOptions: [...(agent.open?.configOptions ?? []), limits] };
  const turns = [
    ...(agent.turns ?? []).map((turn) => ({ ...turn, steps: [...turn.steps].sort(namedLast) })),
    { when: "operations", steps: operations },
    { when: "rich services", steps: richServices },
  ];
  const asked = scopes.map(({ optionId }) => ({ when: `/${optionId}.txt`, answer: { option: optionId } }));
  const steps = [...client.steps.flatMap(sayable), ...added, ...loaded];
  return {
    agent: { ...agent, open, turns },
    client: {
      ...client,
      credentials: { apiKey: "secret" },
      permissions: [...asked, ...(client.permissions ?? [])],
      terminals: [
        { command: "make all", output: "made\n", pid: 11 },
        { command: "sleep forever", output: "zzz", exit: "runs", pid: 12 },
      ],
      steps: steps.filter((step) => canSet || !("setConfigOption" in step)),
    },
  };
}

const loaded: readonly ClientStep[] = [
  { load: { id: "old-session", cwd: "/project" }, as: "old" },
  { prompt: "after the load", session: "old" },
  { load: { id: "no-such-session", cwd: "/project" }, as: "nothing" },
];

/** The step as dialects can say it; nothing where they cannot. */
function sayable(given: ClientStep): readonly ClientStep[] {
  if ("open" in given) return given.as === undefined ? [{ open: "/project" }] : [];
  if ("load" in given || Object.keys(given).some((key) => onlyVersions.has(key))) return [];
  if ("prompt" in given && (given.prompt === "forms" || given.session !== undefined)) return [];
  return [given];
}

/** Dialects have no ids of messages: nothing is added to a message after another one. */
function namedLast(one: AgentStep, other: AgentStep): number {
  return Number("messageId" in one) - Number("messageId" in other);
}
