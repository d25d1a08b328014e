// Tools of a client, and servers of an agent, through a relay between the editions and within one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { doing, kitProbe, said, server } from "../../../test/support/mcp-probe.ts";
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
  test(`a ${own} client gives a ${theirs} agent its tools through the bridge, since a relay announces no other way (M1)`, async () => {
    const { connection, kit, answer } = await relayed(own, theirs);
    assert.equal(connection.capabilities.mcpAcp, false);
    assert.equal(answer.of, "http");
    assert.deepEqual(kit.log, ["declared sums in /w"]);
    assert.deepEqual(connection.mcpServers, ["search"]);
    const find = { name: "find" };
    assert.deepEqual(await connection.mcp("search").request("tools/call", find), said("found"));
  });
