// What a dialect cannot say is noted in the messages of a bridge, as between versions 1 and 2.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { relay } from "@parley/acp/relay";
import { memoryPair } from "@parley/acp/transport";
import { editionNamed } from "@parley/dialects";
import { type Message, RawPeer } from "../../../acp/test/support/raw-peer-probe.ts";

const thought = "a thought: the dialect has messages and tool calls only";
const places = "all places of a tool call but the first";

/** What a client of pharo gets from an agent of version 1, in one turn. */
async function turn(t: TestContext, losses: "lossy" | "strict") {
  const [left, clientEnd] = memoryPair();
  const [right, agentEnd] = memoryPair();
  const bridge = relay(left, right, { as: editionNamed("pharo"), agentEdition: "v1", losses });
  t.after(() => bridge.close());
  const text = (words: string) => ({ content: { type: "text", text: words } });
  const updates = [
    { sessionUpdate: "agent_thought_chunk", ...text("hm") },
    {
      sessionUpdate: "tool_call",
      toolCallId: "c",
      title: "Move",
      locations: [{ path: "/a" }, { path: "/b" }],
    },
    { sessionUpdate: "agent_message_chunk", ...text("done") },
  ];
  new RawPeer(agentEnd, (message, self) => {
    if (message["method"] === "initialize")
      self.answer(message, { protocolVersion: 1, agentCapabilities: {}, authMethods: [] });
    if (message["method"] === "session/new") self.answer(message, { sessionId: "s" });
    if (message["method"] !== "session/prompt") return;
    for (const update of updates)
      self.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
    self.answer(message, { stopReason: "end_turn" });
  });
  const client = new RawPeer(clientEnd);
  await client.ask(1, "initialize", { protocolVersion: 1, clientCapabilities: { terminal: {} } });
  await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  const prompt = { sessionId: "s", prompt: [{ type: "text", text: "go" }] };
  const { result } = await client.ask(3, "session/prompt", prompt);
  const told = client.got.filter(({ method }) => method === "session/update");
  const notes = told.map(({ params }) => {
    const { type, _meta } = (params as Message)["update"] as Message;
    return [type, (_meta as Message | undefined)?.["_parley.dev/lost"]];
  });
  return { notes, result };
}

test("an update says what it lost, and the end of the turn all that was lost in it", async (t) => {
  const { notes, result } = await turn(t, "lossy");
  assert.deepEqual(notes, [
    ["tool_call", [places]],
    ["message", undefined],
  ]);
  assert.deepEqual(result, { stopReason: "end_turn", _meta: { "_parley.dev/lost": [thought, places] } });
});

test("a strict bridge does not send an update that loses something", async (t) => {
  const { notes, result } = await turn(t, "strict");
  assert.deepEqual(notes, [["message", undefined]]);
  assert.deepEqual(result, { stopReason: "end_turn", _meta: { "_parley.dev/lost": [thought, places] } });
});
