import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conversation,
  inEveryVersion,
  initialize,
  openSession,
  place,
  quiet,
  withScriptedAgent,
  withScriptedClient,
} from "../../test/support/peer-probe.ts";
import { storedEntries } from "../../test/support/stored-entries.ts";
import type { AgentSession, SessionUpdate } from "../index.ts";
import { memoryStore } from "../store.ts";

inEveryVersion("commands, their input and plans may be said without a type", async (pair) => {
  const store = memoryStore();
  let there: AgentSession | undefined;
  const { session, updates } = await openSession(pair, {
    session: {
      store,
      open(opened) {
        there = opened;
        opened.setAvailableCommands([{ name: "go", description: "Goes", input: { hint: "where" } }]);
      },
    },
    async prompt(turn) {
      await turn.update({
        sessionUpdate: "available_commands_update",
        availableCommands: [{ name: "stop", description: "Stops" }],
      });
      const entries = [{ content: "one", priority: "high", status: "pending" }] as const;
      await turn.update({ sessionUpdate: "plan_update", plan: { planId: "main", entries } });
    },
  });
  await session.prompt("x").result;
  const go = { type: "command", name: "go", description: "Goes", input: { type: "text", hint: "where" } };
  assert.deepEqual(there?.availableCommands, [go]);
  const kinds = new Set(["available_commands_update", "plan_update"]);
  const shown = updates.filter(({ sessionUpdate }) => kinds.has(sessionUpdate)).slice(-2);
  const stored: unknown[] = [];
  for await (const { tag = "", text } of storedEntries(store, session.sessionId))
    if (kinds.has(tag)) stored.push(JSON.parse(text));
  for (const said of [shown, stored]) {
    assert.deepEqual(said, [
      {
        sessionUpdate: "available_commands_update",
        availableCommands: [{ type: "command", name: "stop", description: "Stops" }],
      },
      {
        sessionUpdate: "plan_update",
        plan: {
          type: "items",
          planId: "main",
          entries: [{ content: "one", priority: "high", status: "pending" }],
        },
      },
    ]);
  }
});

inEveryVersion(
  "config options may be said without a type: a boolean is a switch, the others are choices",
  async (pair) => {
    let there: AgentSession | undefined;
    const level = {
      configId: "level",
      name: "Level",
      currentValue: "low",
      options: [{ value: "low", name: "Low" }],
    };
    const fast = { configId: "fast", name: "Fast", currentValue: false };
    const { session } = await openSession(pair, {
      session: {
        open(opened) {
          there = opened;
          assert.throws(() => opened.setConfigOptions([{ ...level, currentValue: 5 } as never]), TypeError);
          assert.throws(() => opened.setConfigOptions([null] as never), TypeError);
          assert.throws(() => opened.setConfigOptions({} as never), TypeError);
          opened.setConfigOptions([level, fast]);
        },
      },
      async prompt(turn) {
        await turn.update({
          sessionUpdate: "config_option_update",
          configOptions: [{ ...fast, currentValue: true }],
        });
      },
    });
    const whole = [
      { type: "select", ...level },
      { type: "boolean", ...fast },
    ];
    assert.deepEqual(there?.configOptions, whole);
    assert.deepEqual(session.configOptions, whole);
    await session.setConfigOption("fast", true);
    assert.equal(there?.configOption("fast"), true);
    await session.prompt("x");
    assert.deepEqual(session.configOptions, [{ type: "boolean", ...fast, currentValue: true }]);
  },
);

inEveryVersion(
  "an MCP server without a type is a command, and one over SSE is known as such",
  async (pair) => {
    const got: unknown[] = [];
    const { agent } = await conversation(pair, {
      mcpCapabilities: { sse: true },
      session: { open: ({ mcpServers }) => void got.push(...mcpServers) },
      prompt: () => undefined,
    });
    const files = { name: "files", command: "/bin/files", args: ["-v"], env: [] };
    const events = { type: "sse", name: "events", url: "https://example.com/sse", headers: [] } as const;
    await agent.newSession({ ...place, mcpServers: [files] });
    assert.deepEqual(got.splice(0), [{ type: "stdio", ...files }]);
    // only version 1 has servers over SSE
    if (pair.version === 2)
      return assert.rejects(agent.newSession({ ...place, mcpServers: [events] }), /SSE/);
    await agent.newSession({ ...place, mcpServers: [events] });
    assert.deepEqual(got, [events]);
  },
);

test("a v2 client's server over SSE, which v2's schema does not check, is refused unless it is whole", async () => {
  const got: unknown[] = [];
  const { call } = withScriptedClient({
    mcpCapabilities: { sse: true },
    session: { open: ({ mcpServers }) => void got.push(...mcpServers) },
    prompt: () => undefined,
  });
  await call("initialize", initialize(2));
  const whole = { type: "sse", name: "events", url: "https://example.com/sse" };
  for (const wrong of [{ name: 7 }, { url: undefined }, { headers: "x" }, { headers: [{ name: "a" }] }])
    await assert.rejects(call("session/new", { ...place, mcpServers: [{ ...whole, ...wrong }] }), {
      code: -32602,
    });
  await call("session/new", { ...place, mcpServers: [whole] });
  assert.deepEqual(got, [whole]);
});

test("an update of one's own kind is stored as a client receives it, and comes back with the history", async () => {
  const store = memoryStore();
  const raw = { sessionUpdate: "_acme/weather", sky: "blue" } as const;
  const { session, updates, agent } = await openSession(
    { editions: ["v2"], version: 2 },
    { session: { store }, prompt: async (turn) => void (await turn.update(raw)) },
  );
  await session.prompt("x").result;
  const unknown = { sessionUpdate: "_acme/weather", unknown: true, raw };
  assert.deepEqual(
    updates.find((update) => update.sessionUpdate === "_acme/weather"),
    unknown,
  );
  const stored: unknown[] = [];
  for await (const { kind, text } of storedEntries(store, session.sessionId))
    if (kind === "update") stored.push(JSON.parse(text));
  assert.deepEqual(stored, [unknown]);
  await session.close();
  const replayed: SessionUpdate[] = [];
  await agent.loadSession(session.sessionId, { ...place, onUpdate: (update) => void replayed.push(update) });
  assert.deepEqual(
    replayed.find((update) => update.sessionUpdate === "_acme/weather"),
    unknown,
  );
});

for (const version of [1, 2] as const) {
  test(`v${version}: a null that means nothing reaches neither a listener nor an agent`, async () => {
    const { agent, peer } = await withScriptedAgent(version, {});
    const session = await agent.newSession(place);
    const got: SessionUpdate[] = [];
    session.onUpdate((update) => void got.push(update));
    const content = { type: "text", text: "x", annotations: null, _meta: null };
    const chunk = { sessionUpdate: "agent_message_chunk", messageId: "m" };
    peer.update("s1", { ...chunk, content, _meta: null });
    // here it clears the title
    peer.update("s1", { sessionUpdate: "session_info_update", title: null });
    await quiet();
    assert.deepEqual(got, [
      { ...chunk, content: { type: "text", text: "x" } },
      { sessionUpdate: "session_info_update", title: null },
    ]);

    const prompts: unknown[] = [];
    const { call } = withScriptedClient({ prompt: (turn) => void prompts.push(turn.prompt, turn._meta) });
    await call("initialize", initialize(version));
    const { sessionId } = (await call("session/new", { ...place, mcpServers: [] })) as { sessionId: string };
    await call("session/prompt", { sessionId, prompt: [content], _meta: null });
    await quiet();
    assert.deepEqual(prompts, [[{ type: "text", text: "x" }], undefined]);
  });
}
