// MCP in the dialect scoped: the servers of its document, those that an agent hosts, and the tools of a client.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentDefinition, agent, type ClientDefinition, client } from "@parley/acp";
import type { McpChannel } from "@parley/acp/model";
import { memoryPair } from "@parley/acp/transport";
import { scoped } from "@parley/dialects";
import { doing, kitProbe, said, server } from "../../../acp/test/support/mcp-probe.ts";
import { RawPeer } from "../../../acp/test/support/raw-peer-probe.ts";

const hello = { protocolVersion: 1, clientInfo: { name: "raw", version: "1" }, capabilities: { fs: {} } };
const search = server("search", { find: ({ what }) => said(`found ${what}`) });

/** A client of the document, which writes its messages itself. */
async function served(definition: Partial<AgentDefinition>) {
  const [near, far] = memoryPair();
  agent({ name: "a", version: "1", editions: [scoped()], prompt: () => undefined, ...definition }).connect(
    far,
  );
  const peer = new RawPeer(near);
  const call = (id: number, method: string, params: object) => peer.ask(id, method, params);
  const { result } = await call(1, "initialize", hello);
  return { call, capabilities: (result as { capabilities: Capabilities }).capabilities };
}

interface Capabilities {
  readonly mcpCapabilities: { readonly transport: readonly string[] };
  readonly _meta?: object;
}

async function connected(definition: Partial<AgentDefinition>, own: Partial<ClientDefinition> = {}) {
  const [near, far] = memoryPair();
  const log: string[] = [];
  agent({ name: "a", version: "1", editions: [scoped()], prompt: () => undefined, ...definition }).connect(
    far,
  );
  const connection = await client({
    name: "c",
    version: "1",
    editions: [scoped()],
    log: (level, message) => log.push(`${level}: ${message}`),
    ...own,
  }).connect(near);
  assert.equal(connection.edition, "scoped");
  return { connection, log };
}

test("a client of the document asks a hosted server by _mcp/request and gets its result as the answer", async () => {
  const { call, capabilities } = await served({ mcpServers: { search } });
  assert.deepEqual(capabilities._meta, { "_parley.dev/mcp": { servers: ["search"] } });
  const params = { serverName: "search", mcpMethod: "tools/call" };
  const mcpParams = { name: "find", arguments: { what: "it" } };
  assert.deepEqual((await call(2, "_mcp/request", { ...params, mcpParams }))["result"], said("found it"));
  const wrong = await call(3, "_mcp/request", { ...params, mcpParams: { name: "none" } });
  assert.deepEqual(wrong["error"], { code: -32601, message: "no tools/call none" });
});

test("a hosted server that is not there is -32004, and an agent that hosts none has no such method (M1, M6)", async () => {
  const request = { serverName: "serach", mcpMethod: "tools/list" };
  const one = await served({ mcpServers: { search } });
  const { code, message } = (await one.call(2, "_mcp/request", request))["error"] as {
    code: number;
    message: string;
  };
  assert.equal(code, -32004);
  assert.match(message, /no MCP server "serach"; it hosts: search/);
  const none = await served({});
  assert.equal(none.capabilities._meta, undefined);
  const refused = (await none.call(2, "_mcp/request", request))["error"] as { code: number };
  assert.equal(refused.code, -32601);
});

test("_mcp/request with a connection_id is of another protocol, and is refused with a sentence", async () => {
  const { call } = await served({ mcpServers: { search } });
  const { error } = await call(2, "_mcp/request", { connection_id: "1", method: "tools/list" });
  assert.match((error as { message: string }).message, /as it was in 2025/);
});

test("our client asks the hosted servers of a scoped agent, and of one that announces none", async () => {
  const { connection } = await connected({ mcpServers: { search } });
  const find = { name: "find", arguments: { what: "it" } };
  assert.deepEqual(connection.mcpServers, ["search"]);
  assert.deepEqual(await connection.mcp("search").request("tools/call", find), said("found it"));
  // nothing is known of what it hosts: it is asked
  const silent = await connected({});
  await assert.rejects(silent.connection.mcp("search").request("tools/call", find), {
    name: "RequestError",
    kind: "method_not_found",
  });
});

const acp = (agentUrl: string) => [
  { name: "far", transport: { type: "acp", agentUrl, mcpServerName: "internal-tool" } },
];

test("the transport acp is announced where addresses are known, and leads to the configured agent alone (M1)", async () => {
  const asked: string[] = [];
  const channel: McpChannel = {
    request: async (method) => said(method),
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const { call, capabilities } = await served({
    ...doing(async (_, [far]) => far?.request("tools/list")),
    mcpAgents: (address) =>
      address !== "acp://trusted-agent.example.com"
        ? undefined
        : async (serverName) => {
            asked.push(serverName);
            return channel;
          },
  });
  assert.deepEqual(capabilities.mcpCapabilities.transport, ["stdio", "acp"]);
  const opened = await call(2, "session/new", {
    workingDirectory: "/w",
    mcpServers: acp("acp://trusted-agent.example.com"),
  });
  const { sessionId } = opened["result"] as { sessionId: string };
  const ended = await call(3, "session/prompt", { sessionId, content: [{ type: "text", text: "go" }] });
  assert.equal((ended["result"] as { stopReason: string }).stopReason, "end_turn");
  assert.deepEqual(asked, ["internal-tool"]);
  const refused = await call(4, "session/new", { workingDirectory: "/w", mcpServers: acp("acp://evil/x") });
  const { message, data } = refused["error"] as { message: string; data: { path: string } };
  assert.match(message, /"acp:\/\/evil\/x" is no agent that the user has configured/);
  assert.equal(data.path, "/mcpServers/0/transport/agentUrl");
});

test("an agent with MCP over ACP that knows no other agents does not announce the transport acp (M1)", async () => {
  const { call, capabilities } = await served({ unstable: ["mcp_over_acp"] });
  assert.deepEqual(capabilities.mcpCapabilities.transport, ["stdio"]);
  const refused = await call(2, "session/new", { workingDirectory: "/w", mcpServers: acp("acp://x/y") });
  assert.equal((refused["error"] as { code: number }).code, -32602);
});

test("every kind of server of the document is one connect(), with its directory and its time limit", async () => {
  const kit = kitProbe();
  const { call, capabilities } = await served({ ...doing(() => 1), mcp: kit, unstable: [] });
  assert.deepEqual(capabilities.mcpCapabilities.transport, ["stdio", "http", "sse"]);
  const opened = await call(2, "session/new", {
    workingDirectory: "/w",
    mcpServers: [
      { name: "files", transport: { type: "stdio", command: "/bin/files", args: ["."], cwd: "/elsewhere" } },
      { name: "web", transport: { type: "http", url: "https://mcp.example/x", timeout: 30_000 } },
      { name: "old", transport: { type: "sse", url: "https://mcp.example/sse", headers: { A: "b" } } },
    ],
  });
  const { sessionId } = opened["result"] as { sessionId: string };
  await call(3, "session/prompt", { sessionId, content: [{ type: "text", text: "go" }] });
  assert.deepEqual(
    kit.connected.map(({ server: { type }, options }) => [type, options]),
    [
      ["stdio", { cwd: "/elsewhere" }],
      ["http", { cwd: "/w", timeoutMs: 30_000 }],
      ["sse", { cwd: "/w" }],
    ],
  );
});

test("the tools of our client reach a scoped agent through the bridge, whatever it announces", async () => {
  const kit = kitProbe();
  let url = "";
  const { connection } = await connected(
    {
      ...doing((turn) => {
        url = String((turn.session.mcpServers[0] as { url?: unknown }).url);
      }),
      mcp: kitProbe(),
      mcpAgents: () => undefined,
    },
    { mcp: kit, unstable: ["mcp_over_acp"] },
  );
  assert.equal(connection.capabilities.mcpAcp, true);
  const session = await connection.newSession({
    cwd: "/w",
    tools: [server("sums", { add: () => said("3") })],
  });
  await session.prompt("go");
  assert.deepEqual(await kit.reach(url, "tools/call", { name: "add" }), said("3"));
});
