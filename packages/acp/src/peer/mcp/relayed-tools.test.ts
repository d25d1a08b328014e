// Tools of a client, and servers of an agent, through a relay between the editions and within one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { doing, kitProbe, said, server } from "../../../test/support/mcp-probe.ts";
import { rawLinePeer } from "../../../test/support/raw-line-peer.ts";
import { agent, client, type Edition } from "../../index.ts";
import { relay } from "../../relay.ts";
import { memoryPair } from "../../transport.ts";

const unstable = ["mcp_over_acp"] as const;

async function relayed(own: Edition, theirs: Edition) {
  const [near, left] = memoryPair();
  const [right, far] = memoryPair();
  const app = agent({
    name: "a",
    version: "1",
    editions: [theirs],
    ...doing((_, [channel]) => channel?.request("tools/call", { name: "add" })),
    unstable,
    mcp: kitProbe(),
    mcpServers: { search: server("search", { find: () => said("found") }) },
  });
  app.connect(far);
  relay(left, right, { unstable: "*" });
  const kit = kitProbe();
  const definition = { name: "c", version: "1", editions: [own], unstable, mcp: kit } as const;
  const connection = await client(definition).connect(near);
  const tools = [server("sums", { add: () => said("3") })];
  const session = await connection.newSession({ cwd: "/w", tools });
  return { connection, kit, answer: JSON.parse(await session.prompt("go").text()) };
}

for (const edition of ["v1", "v2"] as const)
  test(`a relay within ${edition} passes calls of tools on as they are`, async () => {
    const { connection, kit, answer } = await relayed(edition, edition);
    assert.equal(connection.capabilities.mcpAcp, true);
    assert.deepEqual(answer, said("3"));
    assert.deepEqual(kit.log, []);
  });

for (const [own, theirs] of [
  ["v1", "v2"],
  ["v2", "v1"],
] as const)
  test(`a ${own} client gives a ${theirs} agent its tools over the connection, through a relay that translates`, async () => {
    const { connection, kit, answer } = await relayed(own, theirs);
    assert.equal(connection.capabilities.mcpAcp, true);
    assert.deepEqual(answer, said("3"));
    assert.deepEqual(kit.log, []);
    assert.deepEqual(connection.mcpServers, ["search"]);
    const find = { name: "find" };
    assert.deepEqual(await connection.mcp("search").request("tools/call", find), said("found"));
    await connection.close();
  });

const opened = {
  1: { protocolVersion: 1, agentCapabilities: { mcpCapabilities: { acp: true } } },
  2: {
    protocolVersion: 2,
    capabilities: { session: { mcp: { acp: {} } } },
    info: { name: "a", version: "1" },
  },
} as const;

const hello = {
  1: { protocolVersion: 1, clientCapabilities: {} },
  2: { protocolVersion: 2, capabilities: {}, info: { name: "c", version: "1" } },
} as const;

for (const [own, theirs] of [
  [1, 2],
  [2, 1],
] as const)
  test(`what a v${theirs} agent and the servers of a v${own} client say passes a relay as it came, both ways, in both generations (M16)`, {
    timeout: 10_000,
  }, async () => {
    const [near, left] = memoryPair();
    const [right, far] = memoryPair();
    const [as, agentEdition] = [own, theirs].map((version) => `v${version}` as Edition);
    relay(left, right, { unstable: "*", ...(as && { as }), ...(agentEdition && { agentEdition }) });
    const [c, a] = [rawLinePeer(near), rawLinePeer(far)];
    c.request(1, "initialize", hello[own]);
    a.answer(await a.asked("initialize"), opened[theirs]);
    const introduced = await c.answered(1);
    assert.match(JSON.stringify(introduced.result), own === 1 ? /"acp":true/ : /"acp":\{\}/);
    c.request(2, "session/new", { cwd: "/", mcpServers: [{ type: "acp", name: "n", serverId: "s1" }] });
    const made = await a.asked("session/new");
    assert.deepEqual(made.params?.["mcpServers"], [{ type: "acp", name: "n", serverId: "s1" }]);
    a.answer(made, { sessionId: "s" });
    await c.answered(2);

    const message = {
      serverId: "s1",
      requestId: "r1",
      method: "tools/call",
      params: { odd: [1] },
      _meta: { t: 1 },
    };
    a.request(7, "mcp/message", message);
    const call = await c.asked("mcp/message");
    assert.deepEqual(call.params, message);
    const progress = { serverId: "s1", requestId: "r1", method: "notifications/progress", params: {} };
    c.notify("mcp/message", progress);
    assert.deepEqual((await a.asked("mcp/message")).params, progress);
    a.notify("$/cancel_request", { requestId: 7 });
    const { params } = await c.asked("$/cancel_request");
    assert.equal(params?.["requestId"], call.id);
    const error = { code: -32800, message: "cancelled", data: { of: "the server" } };
    c.send({ jsonrpc: "2.0", id: call.id, error });
    assert.equal((await a.answered(7)).error?.code, -32800);

    a.request(8, "mcp/connect", { serverId: "s1" });
    c.answer(await c.asked("mcp/connect"), { connectionId: "k" });
    assert.deepEqual((await a.answered(8)).result, { connectionId: "k" });
    const older = { connectionId: "k", method: "ping" };
    a.notify("mcp/message", older);
    assert.deepEqual((await c.asked("mcp/message")).params, older);
    c.request(9, "mcp/message", older);
    const back = await a.asked("mcp/message");
    assert.deepEqual(back.params, older);
    a.send({ jsonrpc: "2.0", id: back.id, error: { code: -33_002, message: "broke", data: null } });
    const { error: broke } = await c.answered(9);
    assert.deepEqual(broke, { code: -33_002, message: "broke", data: null });
    await Promise.all([c.close(), a.close()]);
  });
