// Several plans and subagents: in the schema of version 1 they are unstable, and need a capability of the client.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connected, inEveryWay } from "../../../test/support/every-way.ts";
import {
  initialize,
  type Prompted,
  place,
  text,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import type { SessionUpdate, UnstableFeature } from "../../index.ts";

const unstable: readonly UnstableFeature[] = ["plans", "subagents"];
const entry = { content: "Read", priority: "medium", status: "pending" } as const;

const plans: Prompted = async (turn) => {
  await turn.plan([entry], "a");
  await turn.update({
    sessionUpdate: "plan_update",
    plan: { type: "markdown", planId: "b", content: "# B" },
  });
  await turn.update({ sessionUpdate: "plan_removed", planId: "a" });
};

const subagents: Prompted = async (turn) => {
  await turn.update({
    sessionUpdate: "subagent_update",
    sessionId: "child",
    title: "Helper",
    state: { state: "running" },
  });
  await turn.update({
    sessionUpdate: "session_message",
    messageId: "m",
    senderSessionId: "child",
    content: [text("done")],
  });
  await turn.update({ sessionUpdate: "session_message_chunk", messageId: "m", content: text("!") });
};

const everything: Prompted = async (turn) => {
  await plans(turn);
  await subagents(turn);
};

const kindsOf = (updates: readonly SessionUpdate[]) =>
  updates
    .map(({ sessionUpdate }) => sessionUpdate)
    .filter((kind) => /plan|subagent|session_message/.test(kind));

inEveryWay("A119 plans and subagents arrive as they were sent, if both sides enable them", async (way) => {
  const { connection } = await connected(way, { unstable, prompt: everything }, { unstable });
  const session = await connection.newSession(place);
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => updates.push(update));
  await session.prompt("go");
  assert.deepEqual(kindsOf(updates), [
    "plan_update",
    "plan_update",
    "plan_removed",
    "subagent_update",
    "session_message",
    "session_message_chunk",
  ]);
  const [first, second] = updates.filter((update) => update.sessionUpdate === "plan_update");
  assert.deepEqual(first?.plan, { type: "items", planId: "a", entries: [entry] });
  assert.deepEqual(second?.plan, { type: "markdown", planId: "b", content: "# B" });
  const child = updates.find((update) => update.sessionUpdate === "subagent_update");
  assert.deepEqual([child?.title, child?.state], ["Helper", { state: "running" }]);
});

inEveryWay("a client of version 1 that has not enabled them sees one plan, and no subagents", async (way) => {
  if (way.client !== "v1") return;
  const { connection } = await connected(way, { unstable, prompt: everything });
  const session = await connection.newSession(place);
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => updates.push(update));
  await session.prompt("go");
  assert.deepEqual(kindsOf(updates), ["plan_update", "plan_update", "plan_update"]);
  const shown = updates.flatMap((update) =>
    update.sessionUpdate === "plan_update" && update.plan.type === "items"
      ? [[update.plan.planId, update.plan.entries.map(({ content }) => content)]]
      : [],
  );
  assert.deepEqual(shown, [
    ["main", ["Read"]],
    ["main", ["Read", "# B"]],
    ["main", ["# B"]],
  ]);
});

for (const [declared, enabled] of [
  [true, true],
  [true, false],
  [false, true],
] as const)
  test(`version 1: declared ${declared}, enabled ${enabled}`, async () => {
    const { call, peer } = withScriptedClient({
      prompt: enabled ? everything : (turn) => turn.plan([entry]),
      unstable: enabled ? unstable : [],
    });
    const clientCapabilities = declared ? { plan: {}, subagents: {} } : {};
    await call("initialize", { ...initialize(1), clientCapabilities });
    const { sessionId } = (await call("session/new", { cwd: "/project", mcpServers: [] })) as {
      sessionId: string;
    };
    await call("session/prompt", { sessionId, prompt: [text("go")] });
    const kinds = peer.got.map(
      ({ params }) => (params as { update: { sessionUpdate: string } }).update.sessionUpdate,
    );
    const both = [
      "plan_update",
      "plan_update",
      "plan_removed",
      "subagent_update",
      "session_message",
      "session_message_chunk",
    ];
    assert.deepEqual(kinds, declared && enabled ? both : enabled ? ["plan", "plan", "plan"] : ["plan"]);
  });
