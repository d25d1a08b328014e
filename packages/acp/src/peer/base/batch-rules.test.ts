// What the peers keep out of batches, on the real rule and as the wire sees it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BatchCall } from "@parley/acp/jsonrpc";
import { memoryPair } from "@parley/acp/transport";
import * as v1 from "@parley/acp/v1";
import * as v2 from "@parley/acp/v2";
import { type BarePeer, barePeer, quiet } from "../../../test/support/connection-probe.ts";

type Batching = { batch(calls: readonly BatchCall[]): unknown };

const cwd = "/project";
const sessionId = "s";
const mcpServers: never[] = [];
const prompt = [{ type: "text", text: "hello" }];

/** Valid calls, so that nothing but the rule can refuse them. */
const alone: Record<"v1" | "v2", readonly BatchCall[]> = {
  v1: [
    { method: "initialize", params: { protocolVersion: 1 } },
    { method: "authenticate", params: { methodId: "key" } },
    { method: "session/new", params: { cwd, mcpServers } },
    { method: "session/load", params: { sessionId, cwd, mcpServers } },
    { method: "session/resume", params: { sessionId, cwd, mcpServers } },
    { method: "session/prompt", params: { sessionId, prompt } },
  ],
  v2: [
    {
      method: "initialize",
      params: { protocolVersion: 2, info: { name: "test", version: "1" }, capabilities: {} },
    },
    { method: "auth/login", params: { methodId: "key" } },
    { method: "session/new", params: { cwd } },
    { method: "session/resume", params: { sessionId, cwd } },
    { method: "session/prompt", params: { sessionId, prompt } },
  ],
};
const list: BatchCall = { method: "session/list", params: {} };

function clientOf(version: "v1" | "v2"): { client: Batching; agent: BarePeer } {
  const [near, far] = memoryPair();
  const client = version === "v1" ? v1.clientPeer(near) : v2.clientPeer(near);
  return { client, agent: barePeer(far) };
}

/** The agent of version 2, which is the one that has updates of terminals. */
function agentWithClient(): { agent: Batching; client: BarePeer } {
  const [near, far] = memoryPair();
  return { agent: v2.agentPeer(near), client: barePeer(far) };
}

function update(session: string, fields: object): BatchCall {
  return { method: "session/update", params: { sessionId: session, update: fields }, notification: true };
}

const output = (terminalId: string, session = sessionId) =>
  update(session, { sessionUpdate: "terminal_output_chunk", terminalId, data: "aGVsbG8=" });
const state = (terminalId: string, session = sessionId) =>
  update(session, { sessionUpdate: "terminal_update", terminalId, cwd });

for (const version of ["v1", "v2"] as const) {
  for (const call of alone[version]) {
    test(`${version}: ${call.method} is refused in a batch, wherever it stands, and nothing is sent (B1)`, async () => {
      const { client, agent } = clientOf(version);
      for (const calls of [[call], [call, list], [list, call]]) {
        assert.throws(() => client.batch(calls), {
          name: "TypeError",
          message: `batch: ${call.method} must be sent on its own (B1)`,
        });
      }
      await quiet();
      assert.deepEqual(agent.received, []);
    });
  }

  test(`${version}: other calls travel as one array (B1)`, async () => {
    const { client, agent } = clientOf(version);
    client.batch([
      list,
      { method: "session/cancel", params: { sessionId }, notification: true },
      { method: "_acme/x", params: 5 },
    ]);
    await agent.until(1);
    assert.deepEqual(
      (agent.received[0] as { method: string }[]).map(({ method }) => method),
      ["session/list", "session/cancel", "_acme/x"],
    );
  });
}

const ordered: Record<string, readonly BatchCall[]> = {
  "two chunks of its output": [output("t"), output("t")],
  "two states of it": [state("t"), state("t")],
  "a state and a chunk": [state("t"), output("t")],
  "a chunk and a state, with others between": [output("t"), output("other"), state("t")],
};
for (const [what, calls] of Object.entries(ordered)) {
  test(`two updates of one terminal may not share a batch: ${what} (B8)`, async () => {
    const { agent, client } = agentWithClient();
    assert.throws(() => agent.batch(calls), {
      name: "TypeError",
      message: "batch: two updates of one terminal depend on their order (B8)",
    });
    await quiet();
    assert.deepEqual(client.received, []);
  });
}

test("updates of different terminals, of one name in two sessions, and of other kinds may share a batch (B8)", async () => {
  const { agent, client } = agentWithClient();
  const text = (messageId: string) =>
    update(sessionId, {
      sessionUpdate: "agent_message_chunk",
      messageId,
      content: { type: "text", text: "hello" },
    });
  agent.batch([output("t"), output("u"), state("t", "another session"), text("m"), text("m")]);
  await client.until(1);
  assert.equal((client.received[0] as unknown[]).length, 5);
});
