// Mistakes that the compiler must refuse, and uses that it must accept. Nothing here runs: tsc checks it.

import {
  type AgentDefinition,
  agent,
  type ClientConnection,
  type ClientPolicy,
  type ClientSession,
  client,
  type OutgoingUpdate,
  type SessionUpdate,
  type StopReason,
  type Turn,
  type UnstableFeatures,
} from "@parley/acp";
import type { OutgoingCommand, OutgoingMcpServer } from "@parley/acp/model";
import type * as v2 from "@parley/acp/v2";

const who = { name: "n", version: "1" };
const call = { sessionUpdate: "tool_call_update", toolCallId: "t" } as const;

export function wrongWords(turn: Turn): void {
  // @ts-expect-error a kind is a known word, or begins with an underscore
  void turn.update({ ...call, kind: "edti" });
  // @ts-expect-error so is a status
  void turn.update({ ...call, status: "doing" });
  // @ts-expect-error and the kind of a call that is run
  void turn.tool({ title: "Edit", kind: "edti" }, () => undefined);
  // @ts-expect-error and the status of a plan's entry
  void turn.plan([{ content: "c", priority: "low", status: "doing" }]);
  // @ts-expect-error and the kind of a content block
  void turn.say({ type: "txt", text: "x" });
  // @ts-expect-error and the kind of an update
  void turn.update({ sessionUpdate: "agent_mesage", messageId: "m" });
  // @ts-expect-error and the kind of an option
  void turn.requestPermission({ title: "?", options: [{ optionId: "y", name: "Yes", kind: "allow" }] });
}

export function wrongEnds(): void {
  // @ts-expect-error a stop reason is a known word, or begins with an underscore
  agent({ ...who, prompt: () => "done" });
  // @ts-expect-error also from an async handler
  agent({ ...who, prompt: async () => "done" });
  // @ts-expect-error also in a result
  agent({ ...who, prompt: async () => ({ stopReason: "done" }) });
  // @ts-expect-error also where the definition stands alone
  const definition: AgentDefinition = { ...who, prompt: () => "done" };
  // @ts-expect-error also from an async handler
  const later: AgentDefinition = { ...who, prompt: async () => "done" };
  // @ts-expect-error also where the type of the data is given
  agent<{ n: number }>({ ...who, session: { open: () => ({ n: 1 }) }, prompt: async () => "done" });
  // @ts-expect-error a decision is a known word
  const policy: ClientPolicy = { decide: async () => "yes" };
  agent(definition);
  agent(later);
  client({ ...who, policy });
}

export function dataWithoutOpen(): void {
  // @ts-expect-error data needs an open that returns it
  agent<{ n: number }>({ ...who, prompt: (turn) => turn.say(`${turn.session.data.n}`) });
  // @ts-expect-error a group without open has none either
  agent<{ n: number }>({ ...who, session: {}, prompt: (turn) => turn.say(`${turn.session.data.n}`) });
  // @ts-expect-error also where the definition stands alone
  const definition: AgentDefinition<{ n: number }> = { ...who, prompt: () => undefined };
  agent(definition);
}

export function wrongUpdates(turn: Turn, session: ClientSession): void {
  // @ts-expect-error the library reports the state of a session
  void turn.update({ sessionUpdate: "state_update", state: "idle" });
  // @ts-expect-error an unknown update of somebody else cannot be sent
  void turn.update({ sessionUpdate: "other", unknown: true, raw: {} });
  session.onUpdate((update) => {
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
    // @ts-expect-error what was received is readonly: other listeners see the same object
    update.content.text = "x";
    // @ts-expect-error at every depth
    update.content.annotations?.audience?.push("user");
  });
  // @ts-expect-error a field that is patched by nobody is absent, never null
  void turn.say({ type: "text", text: "x", annotations: null });
}

export function wrongNames(): void {
  // @ts-expect-error a feature has a name
  client({ ...who, unstable: ["frok"] });
  // @ts-expect-error features are a list
  client({ ...who, unstable: "fork" });
  // @ts-expect-error methods are no features
  agent({ ...who, unstable: ["session/fork"], prompt: () => undefined });
  // @ts-expect-error raw peers take the same features
  const peer: v2.AgentPeerOptions = { unstable: ["session/fork"] };
  // @ts-expect-error an edition has a name
  agent({ ...who, editions: ["v3"], prompt: () => undefined });
  // @ts-expect-error editions are not numbers
  client({ ...who, editions: [2, 1] });
  // @ts-expect-error editions are not called versions
  client({ ...who, versions: ["v2"] });
  return void peer;
}

export function wrongThings(connected: ClientConnection, turn: Turn): void {
  // @ts-expect-error a server over HTTP has a url
  void connected.newSession({ cwd: "/", mcpServers: [{ type: "http", name: "web", command: "x" }] });
  // @ts-expect-error an MCP server is of a known type, or of one that begins with an underscore
  void connected.newSession({ cwd: "/", mcpServers: [{ type: "htp", name: "web", url: "http://x" }] });
  // @ts-expect-error a command has a description
  turn.session.setAvailableCommands([{ name: "go" }]);
}

// ---- what must compile

export const commands: readonly OutgoingCommand[] = [
  { name: "go", description: "Goes" },
  { name: "to", description: "Goes somewhere", input: { hint: "where" } },
  { type: "command", name: "stop", description: "Stops" },
  { type: "_acme", name: "own", description: "Mine", more: 1 },
];

export const servers: readonly OutgoingMcpServer[] = [
  { name: "files", command: "files" },
  { type: "stdio", name: "files", command: "files", args: [], env: [] },
  { type: "http", name: "web", url: "https://example.com/mcp" },
  { type: "sse", name: "events", url: "https://example.com/sse" },
  { type: "_acme", anything: 1 },
];

export const updates: readonly OutgoingUpdate[] = [
  { sessionUpdate: "_acme/x", anything: 1 },
  { ...call, kind: "_acme", status: "_acme", title: null },
  { sessionUpdate: "agent_message", messageId: "m", content: [{ type: "_acme", anything: 1 }] },
  { sessionUpdate: "plan_update", plan: { planId: "p", entries: [] } },
  { sessionUpdate: "available_commands_update", availableCommands: commands },
];

export const features: UnstableFeatures = ["fork", "usage"];
export const all: UnstableFeatures = "*";

/** What was received can be sent on. */
export async function forwards(turn: Turn, update: SessionUpdate): Promise<StopReason> {
  for (const block of turn.prompt) await turn.say(block);
  turn.session.setAvailableCommands(turn.session.availableCommands);
  if (update.sessionUpdate === "tool_call_update") {
    const { kind = "other", status = "pending" } = update;
    await turn.update({ ...call, kind, status });
    await turn.update({ ...update, toolCallId: "mine" });
  }
  if (update.sessionUpdate === "plan_update") await turn.update(update);
  // a kind of one's own is compared like any other
  return update.sessionUpdate === "_acme/x" ? "_acme/done" : "end_turn";
}

export const ends = [
  agent({ ...who, prompt: async () => "end_turn" }),
  agent({ ...who, prompt: () => "_acme/enough" }),
  agent({ ...who, prompt: async () => ({ stopReason: "max_tokens" }) }),
  agent({ ...who, prompt: (turn) => void turn.say("hello") }),
];

const definition: AgentDefinition = {
  ...who,
  async prompt() {
    return "end_turn";
  },
};
const checked = {
  ...who,
  async prompt() {
    return "end_turn";
  },
} satisfies AgentDefinition;
const counting: AgentDefinition<{ n: number }> = {
  ...who,
  session: { open: async () => ({ n: 1 }) },
  prompt: async (turn) => (turn.session.data.n++ > 3 ? "max_turn_requests" : undefined),
};

/** One literal as the only result, wherever the definition stands. */
export const literals = [
  agent(definition),
  agent(checked),
  agent(counting),
  agent<undefined>({
    ...who,
    async prompt() {
      return "end_turn";
    },
  }),
  agent<{ n: number }>({
    ...who,
    session: { open: () => ({ n: 1 }) },
    async prompt() {
      return "end_turn";
    },
  }),
  client({
    ...who,
    policy: {
      async decide() {
        return "allow";
      },
    },
  }),
];

const asks: ClientPolicy = {
  async decide() {
    return "ask";
  },
};
export const asking = client({ ...who, policy: asks });

/** Code that makes agents of any data. */
export function make<Data>(given: AgentDefinition<Data>): unknown {
  return agent(given);
}
