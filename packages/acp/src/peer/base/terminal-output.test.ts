// Display terminals: updates of their own on version 2, in the `_meta` of tool calls on version 1.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connected, inEveryWay } from "../../../test/support/every-way.ts";
import {
  initialize,
  type Prompted,
  place,
  quiet,
  text,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import type { SessionUpdate } from "../../index.ts";
import { followSession } from "../../view.ts";

/** Runs a command whose output comes in two pieces, the first before any call shows it. */
const runs: Prompted = async (turn) => {
  const before = turn.terminal({ command: "make", cwd: "/project/lib" });
  await before.write("one 🦆 \u001b[31mred\u001b[0m\n");
  await turn.tool({ title: "Run" }, async (tool) => {
    await tool.update({ content: [{ type: "terminal", terminalId: before.terminalId }] });
    await before.write("two\n");
    before.exit({ exitCode: 2, signal: "SIGTERM" });
  });
};

inEveryWay("the output of a terminal is shown while it grows, on every version", async (way) => {
  const { connection } = await connected(way, { prompt: runs });
  const session = await connection.newSession(place);
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => updates.push(update));
  const view = followSession(session, () => undefined);
  await session.prompt("go");
  const [terminal] = view.terminals.values();
  assert.deepEqual(
    [terminal?.command, terminal?.cwd, terminal?.output.text(), terminal?.exitStatus],
    ["make", "/project/lib", "one 🦆 \u001b[31mred\u001b[0m\ntwo\n", { exitCode: 2, signal: "SIGTERM" }],
  );
  const [call] = view.toolCalls.values();
  assert.deepEqual([...(call?.terminalIds ?? [])], [terminal?.terminalId]);
  assert.equal(call?._meta, undefined, "events are not kept as facts");
  const chunks = updates.filter(({ sessionUpdate }) => sessionUpdate === "terminal_output_chunk");
  assert.equal(chunks.length, 2);
  const replayed: SessionUpdate[] = [];
  await session.close();
  await connection.loadSession(session.sessionId, { ...place, onUpdate: (update) => replayed.push(update) });
  assert.ok(replayed.some(({ sessionUpdate }) => sessionUpdate === "terminal_output_chunk"));
});

for (const declared of [true, false, "yes", undefined])
  test(`a v1 client that declares terminal_output ${String(declared)} gets ${declared === true ? "it" : "text"}`, async () => {
    const { call, peer } = withScriptedClient({ prompt: runs });
    const _meta = { terminal_output: declared, "example.com/x": 1 };
    await call("initialize", { ...initialize(1), clientCapabilities: { _meta } });
    const { sessionId } = (await call("session/new", { cwd: "/project", mcpServers: [] })) as {
      sessionId: string;
    };
    await call("session/prompt", { sessionId, prompt: [text("go")] });
    const updates = peer.got.map(({ params }) => params["update"] as Record<string, unknown>);
    const sent = JSON.stringify(updates);
    if (declared !== true) {
      assert.ok(!/terminal_info|terminal_output|terminal_exit|"type":"terminal"/.test(sent), sent);
      assert.ok(sent.includes("one 🦆 red"), "as text, without escape sequences");
      return;
    }
    const metas = updates.flatMap((update) => (update["_meta"] === undefined ? [] : [update["_meta"]]));
    const terminalId = (metas[0] as { terminal_info: { terminal_id: string } }).terminal_info.terminal_id;
    const id = { terminal_id: terminalId };
    assert.deepEqual(metas, [
      { terminal_info: { ...id, command: "make", cwd: "/project/lib" } },
      { terminal_output: { ...id, data: "one 🦆 \u001b[31mred\u001b[0m\n" } },
      { terminal_output: { ...id, data: "two\n" } },
      { terminal_exit: { ...id, exit_code: 2, signal: "SIGTERM" } },
    ]);
    assert.ok(sent.includes(`[{"type":"terminal","terminalId":"${terminalId}"}]`));
  });

test("a client says that it shows the output of terminals", async () => {
  const { peer } = await withScriptedAgent(1, {}, { editions: ["v1"], _meta: { "example.com/x": 1 } });
  const { clientCapabilities } = peer.got[0]!.params as { clientCapabilities: { _meta: object } };
  assert.deepEqual(clientCapabilities._meta, { terminal_output: true, "example.com/x": 1 });
});

const call = (more: object) => ({ sessionUpdate: "tool_call_update", toolCallId: "c", ...more });

async function received(...updates: object[]): Promise<SessionUpdate[]> {
  const { agent, peer } = await withScriptedAgent(1, {});
  const session = await agent.newSession(place);
  const seen: SessionUpdate[] = [];
  session.onUpdate((update) => seen.push(update));
  for (const update of updates) peer.update("s1", update);
  await quiet();
  return seen;
}

test("the terminals of adapters are terminals, and the rest of their metadata stays", async () => {
  const id = { terminal_id: "x" };
  const content = [{ type: "terminal", terminalId: "x" }];
  const seen = await received(
    call({ content, _meta: { terminal_info: { ...id, cwd: "/w" } } }),
    call({ _meta: { terminal_output_delta: { data: "from-" }, vendor: 1 } }),
    call({ _meta: { terminal_output: { ...id, data: "shell 🦆" } } }),
    call({ status: "completed", _meta: { terminal_exit: { ...id, exit_code: 0, signal: null } } }),
  );
  assert.deepEqual(seen, [
    call({ content }),
    { sessionUpdate: "terminal_update", terminalId: "x", cwd: "/w" },
    call({ _meta: { vendor: 1 } }),
    { sessionUpdate: "terminal_output_chunk", terminalId: "x", data: btoa("from-") },
    { sessionUpdate: "terminal_output_chunk", terminalId: "x", data: "c2hlbGwg8J+mhg==" },
    call({ status: "completed" }),
    { sessionUpdate: "terminal_update", terminalId: "x", exitStatus: { exitCode: 0 } },
  ]);
});

test("a call whose metadata has output but names no terminal gets one of its own", async () => {
  const seen = await received(
    call({ _meta: { terminal_output: { data: "hi" } } }),
    call({ _meta: { terminal_output: { data: "" }, terminal_exit: {} } }),
  );
  assert.deepEqual(seen, [
    {
      sessionUpdate: "tool_call_content_chunk",
      toolCallId: "c",
      content: { type: "terminal", terminalId: "c" },
    },
    { sessionUpdate: "terminal_output_chunk", terminalId: "c", data: btoa("hi") },
    { sessionUpdate: "terminal_update", terminalId: "c", exitStatus: {} },
  ]);
});

test("metadata of that name but of another shape is metadata", async () => {
  const odd = call({ _meta: { terminal_output: true, terminal_exit: [1], terminal_info: null } });
  assert.deepEqual(await received(structuredClone(odd)), [odd]);
});
