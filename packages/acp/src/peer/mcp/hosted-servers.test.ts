// MCP servers that an agent hosts, and the clients that ask them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { kitProbe, said, server } from "../../../test/support/mcp-probe.ts";
import {
  conversation,
  inEveryVersion,
  type Pair,
  plainV1,
  quiet,
  rejects,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { type AgentDefinition, McpFailure } from "../../index.ts";

const search = server("anything", {
  find: ({ what }) => said(`found ${what}`),
  fail: () => {
    throw new Error("the index is gone");
  },
});

const hosting = (pair: Pair, definition: Partial<AgentDefinition> = {}) =>
  conversation(pair, {
    prompt: () => undefined,
    mcpServers: { search, other: server("o", {}) },
    ...definition,
  });

inEveryVersion("a client lists and calls the servers of an agent by name", async (pair) => {
  const { agent, log } = await hosting(pair);
  assert.deepEqual(agent.mcpServers, ["search", "other"]);
  await using channel = agent.mcp("search");
  assert.deepEqual(await channel.request("tools/list"), { tools: [{ name: "find" }, { name: "fail" }] });
  assert.deepEqual(
    await channel.request("tools/call", { name: "find", arguments: { what: "it" } }),
    said("found it"),
  );
  assert.deepEqual(log, []);
});

inEveryVersion(
  "an error of a hosted server stays its own, and one that breaks is another error (M9)",
  async (pair) => {
    const { agent, log } = await hosting(pair);
    const channel = agent.mcp("search");
    const mine = await channel.request("tools/call", { name: "none" }).catch((error: unknown) => error);
    assert.ok(mine instanceof McpFailure, String(mine));
    assert.deepEqual(mine.body, { code: -32601, message: "no tools/call none" });
    const broken = await rejects(channel.request("tools/call", { name: "fail" }), -33002);
    assert.equal(broken.message, "the MCP server search failed: the index is gone");
    assert.deepEqual(log, ["agent error: an MCP server failed"]);
  },
);

test("an agent that hides its errors hides those of its servers", async () => {
  const { agent } = await hosting(plainV1, { exposeErrors: false });
  const error = await rejects(agent.mcp("search").request("tools/call", { name: "fail" }), -33002);
  assert.equal(error.message, "the MCP server search failed");
});

inEveryVersion(
  "a server that is not there is refused with the names of those that are (M6)",
  async (pair) => {
    const { agent } = await hosting(pair);
    assert.throws(
      () => agent.mcp("serach"),
      /this agent hosts no MCP server "serach"; it hosts: search, other/,
    );
    const error = await rejects(
      agent.request("_parley.dev/mcp", { serverName: "serach", mcpMethod: "tools/list" }),
      -32602,
      { path: "/serverName" },
    );
    assert.match(error.message, /"serach"; it hosts: search, other$/);
  },
);

inEveryVersion("an agent that hosts nothing announces nothing and has no such method (M1)", async (pair) => {
  const { agent } = await conversation(pair, { prompt: () => undefined });
  assert.deepEqual(agent.mcpServers, []);
  assert.throws(() => agent.mcp("search"), /it hosts: none/);
  for (const method of ["_parley.dev/mcp", "_mcp/request"] as const)
    await rejects(agent.request(method, { serverName: "search", mcpMethod: "tools/list" }), -32601);
});

test("a call that is not one is refused with the place that is wrong (M12)", async () => {
  const { agent } = await hosting(plainV1);
  const wrong = { mcpMethod: "tools/list", serverName: "search" };
  for (const [params, path] of [
    [undefined, "/serverName"],
    [{ ...wrong, mcpMethod: 7 }, "/mcpMethod"],
    [{ ...wrong, mcpParams: [1] }, "/mcpParams"],
  ] as const)
    await rejects(agent.request("_parley.dev/mcp", params), -32602, { path });
});

inEveryVersion(
  "a cancel reaches a hosted server, and closing the channel cancels what it asked (M13)",
  async (pair) => {
    const signals: AbortSignal[] = [];
    const slow = server("slow", {
      wait: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signals.push(signal);
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    });
    const { agent } = await hosting(pair, { mcpServers: { slow } });
    const stopping = new AbortController();
    await using channel = agent.mcp("slow");
    const wait = { name: "wait" };
    const first = rejects(channel.request("tools/call", wait, { signal: stopping.signal }), -32800);
    const second = rejects(channel.request("tools/call", wait), -32800);
    await quiet();
    stopping.abort();
    await first;
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true, false],
    );
    await channel.close();
    await second;
    await assert.rejects(channel.request("tools/list"), { name: "ConnectionError" });
  },
);

inEveryVersion("several clients share a hosted server, and it outlives them", async (pair) => {
  const first = await hosting(pair);
  const second = await hosting(pair);
  await first.agent.close();
  await quiet();
  assert.deepEqual(
    await second.agent.mcp("search").request("tools/call", { name: "find" }),
    said("found undefined"),
  );
});

test("an agent that needs a login first says so to who asks its servers", async () => {
  let isLoggedIn = false;
  const { agent } = await hosting(plainV1, { auth: { isLoggedIn: () => isLoggedIn } });
  const find = () => agent.mcp("search").request("tools/call", { name: "find", arguments: { what: "it" } });
  await rejects(find(), -32000);
  isLoggedIn = true;
  assert.deepEqual(await find(), said("found it"));
});

test("a hosted server is not asked before the handshake", async () => {
  const { call } = withScriptedClient({ prompt: () => undefined, mcpServers: { search } });
  await rejects(call("_parley.dev/mcp", { serverName: "search", mcpMethod: "tools/list" }), -32600);
});

test("with a kit an agent hosts a list of tools", async () => {
  const { agent } = await hosting(plainV1, {
    mcp: kitProbe(),
    mcpServers: { sums: [{ tool: "one", run: () => said("1") }] },
  });
  assert.deepEqual(await agent.mcp("sums").request("tools/call", { name: "one" }), said("1"));
});

test("a handler of the agent's own comes first", async () => {
  const { agent } = await hosting(plainV1, {
    extensions: { requests: { "_mcp/request": () => "mine" } },
  });
  assert.equal(await agent.request("_mcp/request", {}), "mine");
});
