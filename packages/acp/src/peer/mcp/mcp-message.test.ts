// MCP over ACP on the wire: what an agent may send to a client with tools, in this generation and in older ones.

import assert from "node:assert/strict";
import { test } from "node:test";
import { said, server, type ToolRun } from "../../../test/support/mcp-probe.ts";
import {
  initialize,
  initialized,
  place,
  quiet,
  rejects,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { agent, type ClientDefinition, client } from "../../index.ts";
import type { McpProvider } from "../../model.ts";

const versions = [1, 2] as const;

/** What an agent answers that has MCP over ACP. */
function native(version: 1 | 2): object {
  const answer = initialized(version) as { capabilities?: { session: object }; agentCapabilities?: object };
  return version === 2
    ? {
        ...answer,
        capabilities: { session: { ...answer.capabilities?.session, mcp: { stdio: {}, acp: {} } } },
      }
    : { ...answer, agentCapabilities: { ...answer.agentCapabilities, mcpCapabilities: { acp: true } } };
}

async function given(
  version: 1 | 2,
  tools: readonly McpProvider[],
  definition: Partial<ClientDefinition> = {},
) {
  const talk = await withScriptedAgent(
    version,
    { initialize: () => native(version), "session/close": () => ({}) },
    { editions: [version === 1 ? "v1" : "v2"], unstable: ["mcp_over_acp"], ...definition },
  );
  const session = await talk.agent.newSession({ ...place, tools });
  const opening = talk.peer.got.find(({ method }) => method === "session/new")?.params ?? {};
  const mcpServers = opening["mcpServers"] as { type: string; name: string; serverId: string }[];
  const serverId = mcpServers[0]?.serverId ?? "";
  let last = 0;
  const ask = (message: object, options?: { readonly signal: AbortSignal }) =>
    talk.peer.connection.request("mcp/message", { serverId, requestId: `r${++last}`, ...message }, options);
  return { ...talk, session, mcpServers, serverId, ask };
}

const tools = () => [server("probe", { echo: ({ text }) => said(String(text)) })];
const echo = { method: "tools/call", params: { name: "echo", arguments: { text: "hi" } } };

for (const version of versions) {
  const on = (name: string, run: () => Promise<void>) =>
    test(`${name} (v${version})`, { timeout: 10_000 }, run);

  on(
    "a server is declared by its name and an id, and its answer is a result or an error in an answer (A122, E15)",
    async () => {
      const { mcpServers, serverId, ask } = await given(version, tools());
      assert.deepEqual(mcpServers, [{ type: "acp", name: "probe", serverId }]);
      assert.deepEqual(await ask(echo), { result: said("hi") });
      const error = { code: -32601, message: "no tools/call wrong" };
      assert.deepEqual(await ask({ method: "tools/call", params: { name: "wrong" } }), { error });
    },
  );

  on("the ids of two servers are never the same (A122, M4, M8)", async () => {
    const { agent, peer, mcpServers } = await given(version, [...tools(), ...tools()]);
    await agent.newSession({ ...place, tools: tools() });
    const later = peer.got.at(-1)?.params["mcpServers"] as { serverId: string }[];
    const ids = [...mcpServers, ...later].map(({ serverId }) => serverId);
    assert.equal(new Set(ids).size, 3);
  });

  on("an unknown server is an error, a notification to one is nothing (M6)", async () => {
    const { ask, peer, log } = await given(version, tools());
    const error = await rejects(ask({ ...echo, serverId: "nobody" }), -33001);
    assert.match(error.message, /no MCP server "nobody"/);
    peer.notify("mcp/message", { serverId: "nobody", requestId: "1", method: "x" });
    peer.notify("mcp/message", { connectionId: "nobody", method: "x" });
    await quiet();
    assert.deepEqual(log, []);
    assert.deepEqual(await ask(echo), { result: said("hi") });
  });

  on("a request whose id is still in use is refused, and may be sent again afterwards (M7)", async () => {
    const gate = Promise.withResolvers<object>();
    const { ask } = await given(version, [
      server("slow", { wait: () => gate.promise, echo: () => said("hi") }),
    ]);
    const first = ask({ requestId: "same", method: "tools/call", params: { name: "wait" } });
    await quiet();
    await rejects(ask({ requestId: "same", ...echo }), -32602);
    gate.resolve(said("done"));
    assert.deepEqual(await first, { result: said("done") });
    assert.deepEqual(await ask({ requestId: "same", ...echo }), { result: said("hi") });
  });

  on("the id of a server whose session has ended is not known any more (M8)", async () => {
    const { ask, session, peer } = await given(version, tools());
    peer.notify("session/update", {
      sessionId: "s1",
      update: { sessionUpdate: "state_update", state: "idle" },
    });
    const closing = session.close();
    await closing.catch(() => undefined);
    await rejects(ask(echo), -33001);
  });

  on("no params and params of null are the same, a list is refused (M11, M12)", async () => {
    const seen: unknown[] = [];
    const { ask } = await given(version, [
      { name: "raw", request: async ({ params }) => void seen.push(params) },
    ]);
    assert.deepEqual(await ask({ method: "x" }), { result: null });
    assert.deepEqual(await ask({ method: "x", params: null }), { result: null });
    await rejects(ask({ method: "x", params: [1] }), -32602, { path: "/params" });
    await rejects(ask({ method: 1 }), -32602, { path: "/method" });
    assert.deepEqual(seen, [undefined, undefined]);
  });

  on(
    "calls beyond those that run and wait are refused, and the others run in order and are answered (M15)",
    async () => {
      const gate = Promise.withResolvers<object>();
      const begun: unknown[] = [];
      const wait: ToolRun = ({ i }) => {
        begun.push(i);
        return gate.promise;
      };
      const { ask } = await given(version, [server("slow", { wait })]);
      const waiting = (i: number) =>
        ask({ method: "tools/call", params: { name: "wait", arguments: { i } } });
      const numbers = Array.from({ length: 64 + 1_024 }, (_, i) => i);
      const calls = numbers.map(waiting);
      const tooMany = Array.from({ length: 5 }, () => rejects(waiting(-1), -33000));
      await Promise.all(tooMany);
      gate.resolve(said("done"));
      assert.deepEqual(new Set((await Promise.all(calls)).map((each) => JSON.stringify(each))).size, 1);
      assert.deepEqual(begun, numbers);
    },
  );

  on("a call that waits leaves its place when it is cancelled (M13, M15)", async () => {
    const gate = Promise.withResolvers<object>();
    let begun = 0;
    const run = () => {
      begun++;
      return gate.promise;
    };
    const { ask } = await given(version, [server("slow", { run })]);
    const wait = { method: "tools/call", params: { name: "run" } };
    const calls = Array.from({ length: 64 }, () => ask(wait));
    const stopping = new AbortController();
    const waiting = rejects(ask(wait, { signal: stopping.signal }), -32800);
    await quiet();
    stopping.abort();
    await waiting;
    gate.resolve(said("done"));
    await Promise.all(calls);
    assert.equal(begun, 64);
  });

  on(
    "a client that has not enabled the feature has no such method, and gives no tools without a kit (M1)",
    async () => {
      const talk = await withScriptedAgent(
        version,
        { initialize: () => native(version) },
        { editions: [version === 1 ? "v1" : "v2"] },
      );
      assert.equal(talk.agent.capabilities.mcpAcp, false);
      await assert.rejects(talk.agent.newSession({ ...place, tools: tools() }), {
        name: "TypeError",
        message: /client\(\{ mcp: mcpKit\(\) \}\).*unstable: \["mcp_over_acp"\]/,
      });
      assert.deepEqual(talk.peer.methods(), ["initialize"]);
      await talk.agent.newSession(place);
      for (const [method, params] of [
        ["mcp/message", { serverId: "1", requestId: "1", method: "x" }],
        ["mcp/connect", { serverId: "1" }],
      ] as const)
        await rejects(talk.peer.connection.request(method, params), -32601);
    },
  );

  on("an agent announces it with its feature, and without it refuses such servers (M1)", async () => {
    const acp = { type: "acp", name: "tools", serverId: "1" };
    for (const unstable of [[], ["mcp_over_acp"]] as const) {
      const { call } = withScriptedClient({ prompt: () => undefined, unstable });
      const { agentCapabilities, capabilities } = (await call("initialize", initialize(version))) as {
        agentCapabilities?: { mcpCapabilities: { acp?: boolean } };
        capabilities?: { session: { mcp: { acp?: object } } };
      };
      const has =
        agentCapabilities?.mcpCapabilities.acp === true || capabilities?.session.mcp.acp !== undefined;
      assert.equal(has, unstable.length === 1);
      const opening = call("session/new", { cwd: "/project", mcpServers: [acp] });
      if (has) await opening;
      else await rejects(opening, -32602);
    }
  });

  on(
    "an agent of the generation with connections lists and calls tools after a handshake (M6, M16)",
    async () => {
      const { peer, serverId } = await given(version, [
        server("probe", {
          echo({ text }, { notify }) {
            notify("notifications/progress", { progress: 1 });
            return said(String(text));
          },
        }),
      ]);
      const call = (method: string, params: object) => peer.connection.request(method, params);
      const { connectionId } = (await call("mcp/connect", { serverId })) as { connectionId: string };
      const other = (await call("mcp/connect", { serverId })) as { connectionId: string };
      assert.notEqual(connectionId, other.connectionId);
      const ask = (method: string, params?: unknown) => call("mcp/message", { connectionId, method, params });
      const hello = {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "old", version: "1" },
      };
      assert.deepEqual(await ask("initialize", hello), {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "probe", version: "1.0.0" },
      });
      peer.notify("mcp/message", { connectionId, method: "notifications/initialized" });
      assert.deepEqual(await ask("ping"), {});
      assert.deepEqual(await ask("tools/list"), { tools: [{ name: "echo" }] });
      assert.deepEqual(await ask("tools/call", echo.params), said("hi"));
      // here an error of the server is the error of the answer
      await rejects(ask("tools/call", { name: "wrong" }), -32601);
      await rejects(ask("tools/list", [1]), -32602);
      assert.deepEqual(peer.got.at(-1), {
        method: "mcp/message",
        params: { connectionId, method: "notifications/progress", params: { progress: 1 } },
      });
      assert.deepEqual(await call("mcp/disconnect", { connectionId }), {});
      await rejects(ask("tools/list"), -32602);
      await rejects(call("mcp/connect", { serverId: "nobody" }), -33001);
      await rejects(call("mcp/connect", {}), -32602);
    },
  );

  on(
    "a server knows the caller's id of a request, and the older handshake the name that it gives",
    async () => {
      const ids: unknown[] = [];
      const named: McpProvider = {
        name: "probe",
        async request({ method, requestId }) {
          ids.push(requestId);
          const serverInfo = { name: "named", version: "2.0.0" };
          return method === "server/discover"
            ? { _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } }
            : {};
        },
      };
      const { peer, serverId, ask } = await given(version, [named]);
      await ask({ method: "tools/list", requestId: "mine" });
      const call = (method: string, params: object) => peer.connection.request(method, params);
      const { connectionId } = (await call("mcp/connect", { serverId })) as { connectionId: string };
      const greeting = (await call("mcp/message", {
        connectionId,
        method: "initialize",
        params: {},
      })) as object;
      assert.deepEqual("serverInfo" in greeting && greeting.serverInfo, { name: "named", version: "2.0.0" });
      assert.deepEqual(ids, ["mine", undefined]);
    },
  );

  on("the words of 2025 are refused with a sentence, on both sides", async () => {
    const { peer } = await given(version, tools());
    const { call } = withScriptedClient({ prompt: () => undefined });
    await call("initialize", initialize(version));
    for (const [method, params] of [
      ["_mcp/connect", { acp_url: "acp:1" }],
      ["_mcp/request", { connection_id: "1", method: "tools/list" }],
      ["_mcp/disconnect", { connection_id: "1" }],
    ] as const)
      for (const sent of [peer.connection.request(method, params), call(method, params)])
        assert.match((await rejects(sent, -32601)).message, /as it was in 2025.*mcp\/message/);
  });
}

test("tools that are none are refused before anything is sent", async () => {
  const { agent, peer } = await given(1, tools());
  const sent = peer.got.length;
  const wrong = (value: unknown) => agent.newSession({ ...place, tools: value as never });
  await assert.rejects(wrong("add"), /tools must be a list of tools and MCP servers, got "add"/);
  await assert.rejects(wrong([7]), /tools must be a list of tools and MCP servers, got 7/);
  await assert.rejects(wrong([{ name: "add" }]), /tools need a kit: client\(\{ mcp: mcpKit\(\) \}\)/);
  assert.equal(peer.got.length, sent);
});

test("a kit that is none is refused where the client or agent is made", () => {
  const info = { name: "x", version: "1", mcp: (() => undefined) as never };
  assert.throws(
    () => client(info),
    /client: mcp must be a kit such as mcpKit\(\) of @parley\/mcp, got a function/,
  );
  assert.throws(() => agent({ ...info, prompt: () => undefined }), /agent: mcp must be a kit/);
});
