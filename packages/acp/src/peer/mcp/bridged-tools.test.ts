// Tools for agents that have no MCP over ACP: the kit makes a bridge, and the client sees to it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { kitProbe, said, server } from "../../../test/support/mcp-probe.ts";
import { initialized, place, rejects, withScriptedAgent } from "../../../test/support/peer-probe.ts";
import { type ClientDefinition, RequestError } from "../../index.ts";

/** An agent that uses servers of these kinds, and a client with a kit. */
async function bridged(
  definition: Partial<ClientDefinition> = {},
  { version = 1, http = true, answer = () => ({ sessionId: "s1" }) as unknown }: Partial<Kinds> = {},
) {
  const kit = kitProbe();
  const own = initialized(version) as { agentCapabilities?: object };
  const v1 = { ...own, agentCapabilities: { ...own.agentCapabilities, mcpCapabilities: { http } } };
  const talk = await withScriptedAgent(
    version,
    {
      initialize: () => (version === 1 ? v1 : own),
      "session/new": answer,
      "session/load": () => ({}),
      "session/close": () => ({}),
    },
    { mcp: kit, unstable: ["mcp_over_acp"], ...definition },
  );
  const servers = () =>
    talk.peer.got.flatMap(
      ({ params }) => (params["mcpServers"] ?? []) as { name: string; url?: string; command?: string }[],
    );
  return { ...talk, kit, servers };
}

interface Kinds {
  readonly version: 1 | 2;
  readonly http: boolean;
  answer(): unknown;
}

const echo = () => server("probe", { echo: ({ text }, { sessionId }) => said(`${text} in ${sessionId}`) });
const hi = { name: "echo", arguments: { text: "hi" } };

test("an agent without MCP over ACP gets its tools by HTTP, and each knows its session", async () => {
  const { agent, kit, servers } = await bridged();
  await agent.newSession({ ...place, tools: [echo()] });
  const [given] = servers();
  assert.equal(given?.name, "probe");
  assert.deepEqual(await kit.reach(String(given?.url), "tools/call", hi), said("hi in s1"));
});

test("an agent without HTTP gets a command", async () => {
  const { agent, kit, servers } = await bridged({}, { http: false });
  await agent.newSession({ ...place, tools: [echo()] });
  const [given] = servers();
  assert.deepEqual(await kit.reach(String(given?.command), "tools/call", hi), said("hi in s1"));
});

test("an agent that uses no MCP servers at all gets no tools, and the call says why", async () => {
  const { agent, peer } = await bridged({}, { version: 2 });
  await assert.rejects(agent.newSession({ ...place, tools: [echo()] }), {
    name: "TypeError",
    message: "newSession: this agent uses MCP servers neither by HTTP nor by stdio, so it gets no tools",
  });
  assert.deepEqual(peer.methods(), ["initialize"]);
});

test("tools become one server with the client's name, which ends with its session", async () => {
  const { agent, kit, servers } = await bridged();
  const add = { tool: "add", run: () => said("3") };
  const session = await agent.newSession({ ...place, tools: [add] });
  const url = String(servers()[0]?.url);
  assert.equal(servers()[0]?.name, "probe-client");
  assert.deepEqual(await kit.reach(url, "tools/call", { name: "add" }), said("3"));
  await session.close();
  await agent.close();
  assert.deepEqual(kit.log, [
    "made probe-client",
    "declared probe-client in /project",
    "undeclared probe-client",
    "ended probe-client",
    "bridge closed",
  ]);
});

test("agents know such servers by their names, so two of one name get two (P30)", async () => {
  const { agent, servers } = await bridged();
  const mcpServers = [{ name: "probe", command: "/bin/probe" }];
  await agent.newSession({ ...place, mcpServers, tools: [echo(), echo()] });
  assert.deepEqual(
    servers().map(({ name }) => name),
    ["probe", "probe-2", "probe-3"],
  );
});

test("a session that the agent refuses leaves nothing that listens (M17)", async () => {
  const { agent, kit } = await bridged(
    {},
    {
      answer() {
        throw new RequestError("unavailable", "not today");
      },
    },
  );
  await rejects(agent.newSession({ ...place, tools: [echo()] }), -32067);
  assert.equal(kit.declared.size, 0);
});

test("a server that cannot be declared takes those before it along, and the agent hears nothing (M17)", async () => {
  const { agent, kit, peer } = await bridged();
  await assert.rejects(
    agent.newSession({ ...place, tools: [echo(), server("broken", {})] }),
    /no port is free/,
  );
  assert.equal(kit.declared.size, 0);
  assert.deepEqual(peer.methods(), ["initialize"]);
});

test("a session whose opening is aborted leaves nothing that listens (M17)", async () => {
  const stopping = new AbortController();
  const { agent, kit } = await bridged({}, { answer: () => new Promise(() => stopping.abort()) });
  const opening = agent.newSession({ ...place, tools: [echo()], signal: stopping.signal });
  await assert.rejects(opening, { name: "ConnectionError", kind: "aborted" });
  assert.equal(kit.declared.size, 0);
});

test("the end of the connection closes all servers and the bridge, before `closed` resolves (M19)", async () => {
  const { agent, kit, cut } = await bridged();
  await agent.newSession({ ...place, tools: [echo()] });
  await cut();
  await agent.closed;
  assert.deepEqual(kit.log.slice(-2), ["undeclared probe", "bridge closed"]);
});

test("a session that is loaded again has the tools of now, and those of before end", async () => {
  const { agent, kit, servers } = await bridged();
  await agent.newSession({ ...place, tools: [echo()] });
  await agent.loadSession("s1", { ...place, tools: [echo()] });
  const [before, now] = servers().map(({ url }) => String(url));
  assert.deepEqual([...kit.declared.keys()], [now]);
  assert.notEqual(before, now);
  await agent.loadSession("s1", place);
  assert.equal(kit.declared.size, 0);
});

test("calls through a bridge pass the same policy and the same limits (M15, M22)", async () => {
  const gate = Promise.withResolvers<object>();
  const { agent, kit, servers } = await bridged({
    policy: { decide: (request) => (request.type === "mcp" && request.tool === "no" ? "deny" : "allow") },
  });
  const tools = [server("probe", { no: () => assert.fail("not allowed"), wait: () => gate.promise })];
  await agent.newSession({ ...place, tools });
  const call = (name: string) => kit.reach(String(servers()[0]?.url), "tools/call", { name });
  assert.deepEqual(await call("no"), {
    ...said("permission denied: this client does not allow it"),
    isError: true,
  });
  const calls = Array.from({ length: 64 + 1_024 }, () => call("wait"));
  await rejects(call("wait"), -33000);
  gate.resolve(said("done"));
  await Promise.all(calls);
});

test("the client learns that the agent has used a bridged server, and not of a look at it", async () => {
  const receipts: unknown[] = [];
  const { agent, kit, servers } = await bridged({
    mcpReceipt: ({ state, server: name, tools }) => void receipts.push([state, name, tools]),
  });
  await agent.newSession({ ...place, tools: [echo()] });
  const url = String(servers()[0]?.url);
  await kit.reach(url, "server/discover").catch(() => undefined);
  assert.deepEqual(receipts, []);
  await kit.reach(url, "tools/list");
  assert.deepEqual(receipts, [["connected", "probe", 1]]);
});

test("a receipt that throws is logged and disturbs nothing", async () => {
  const { agent, kit, servers, log } = await bridged({
    mcpReceipt() {
      throw new Error("oops");
    },
  });
  await agent.newSession({ ...place, tools: [echo()] });
  await kit.reach(String(servers()[0]?.url), "tools/list");
  assert.deepEqual(log, ["error: mcpReceipt failed"]);
});
