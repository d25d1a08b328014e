// session.mcpServers[i].connect(): one call for every kind of server, native or through the kit of the agent.

import assert from "node:assert/strict";
import { test } from "node:test";
import { doing, kitProbe, said, server } from "../../../test/support/mcp-probe.ts";
import {
  conversation,
  inEveryVersion,
  initialize,
  place,
  plainV1,
  rejects,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { type AgentDefinition, type AgentSession, agent } from "../../index.ts";
import type { McpChannel } from "../../model.ts";

const stdio = { name: "files", command: "/bin/files", args: ["."], env: [{ name: "A", value: "1" }] };
const http = {
  type: "http",
  name: "web",
  url: "https://mcp.example/x",
  headers: [{ name: "K", value: "v" }],
} as const;
const sse = { ...http, type: "sse", name: "old" } as const;

inEveryVersion(
  "every kind of server is one connect(), and the app sees what the client said",
  async (pair) => {
    const kit = kitProbe();
    const seen: unknown[] = [];
    const talk = await conversation(
      pair,
      {
        ...doing(async (turn, channels) => {
          seen.push(...turn.session.mcpServers);
          return Promise.all(channels.map((channel) => channel.request("tools/list")));
        }),
        mcp: kit,
      },
      { unstable: ["mcp_over_acp"] },
    );
    const { mcpHttp, mcpSse, mcpAcp } = talk.agent.capabilities;
    // version 2 has no servers by SSE
    assert.deepEqual([mcpHttp, mcpSse, mcpAcp], [true, pair.version === 1, true]);
    const mcpServers = [stdio, http, ...(pair.version === 1 ? [sse] : [])];
    const tools = [server("probe", { echo: () => said("hi") })];
    const session = await talk.agent.newSession({ ...place, mcpServers, tools });
    const answers = JSON.parse(await session.prompt("go").text()) as { of?: string }[];
    const kinds = ["stdio", "http", ...(pair.version === 1 ? ["sse"] : [])];
    assert.deepEqual(
      answers.slice(0, -1).map((each) => each.of),
      kinds,
    );
    assert.deepEqual(answers.at(-1), { tools: [{ name: "echo" }] });
    assert.deepEqual(seen.slice(0, -1), [{ type: "stdio", ...stdio }, ...mcpServers.slice(1)]);
    assert.deepEqual(
      kit.connected.map(({ options }) => options),
      kinds.map(() => ({ cwd: "/project" })),
    );
  },
);

test("a server has its own directory and time limit, where a dialect's client says them", async () => {
  const kit = kitProbe();
  const talk = await conversation(plainV1, { ...doing(() => 1), mcp: kit });
  const details = (given: object) => ({ _meta: { "_parley.dev/details": given } });
  const session = await talk.agent.newSession({
    ...place,
    mcpServers: [
      { ...stdio, ...details({ cwd: "/elsewhere" }) },
      { ...http, ...details({ timeout: 500 }) },
      { ...http, ...details({ timeout: "long", cwd: 7 }) },
    ],
  });
  await session.prompt("go");
  assert.deepEqual(
    kit.connected.map(({ options }) => options),
    [{ cwd: "/elsewhere" }, { cwd: "/project", timeoutMs: 500 }, { cwd: "/project" }],
  );
});

test("an agent without a kit says what is missing when it connects, and not before", async () => {
  const talk = await conversation(plainV1, {
    mcpCapabilities: { http: true },
    async prompt(turn) {
      const errors = turn.session.mcpServers.map((each) =>
        each.connect().catch((error: Error) => error.message),
      );
      await turn.say(JSON.stringify(await Promise.all(errors)));
    },
  });
  const old = { type: "http", name: "sacp", url: "acp:0c7a", headers: [] } as const;
  const session = await talk.agent.newSession({ ...place, mcpServers: [stdio, http, old] });
  assert.deepEqual(JSON.parse(await session.prompt("go").text()), [
    'the MCP server "files" by stdio needs a kit: agent({ mcp: mcpKit() }) with @parley/mcp',
    'the MCP server "web" by http needs a kit: agent({ mcp: mcpKit() }) with @parley/mcp',
    'the MCP server "sacp": "acp:0c7a" is MCP over ACP as it was in 2025, which is not spoken here; update the client',
  ]);
});

test("an agent without a kit takes servers over stdio alone, unless it says otherwise (M1)", async () => {
  for (const [definition, wanted] of [
    [{}, { http: false, sse: false }],
    [{ mcp: kitProbe() }, { http: true, sse: true }],
    [
      { mcp: kitProbe(), mcpCapabilities: { sse: false } },
      { http: true, sse: false },
    ],
    [{ mcpCapabilities: { http: true } }, { http: true, sse: false }],
  ] as const) {
    const { call } = withScriptedClient({ prompt: () => undefined, ...definition });
    const { agentCapabilities } = (await call("initialize", initialize(1))) as {
      agentCapabilities: { mcpCapabilities: object };
    };
    assert.deepEqual(agentCapabilities.mcpCapabilities, wanted);
  }
});

test("channels end with their session, and one that was closed before is closed once", async () => {
  const kit = kitProbe();
  let kept: AgentSession | undefined;
  const channels: McpChannel[] = [];
  const talk = await conversation(plainV1, {
    mcp: kit,
    session: {
      async open(session) {
        kept = session;
        for (const each of session.mcpServers) channels.push(await each.connect());
      },
    },
    prompt: () => undefined,
  });
  const session = await talk.agent.newSession({ ...place, mcpServers: [stdio, http] });
  await channels[0]?.close();
  await session.close();
  assert.deepEqual(kit.log, ["closed files", "closed web"]);
  assert.equal(kept?.mcpServers.length, 2);
});

test("an aborted signal stops the attempt to connect", async () => {
  const kit = kitProbe();
  const talk = await conversation(plainV1, {
    mcp: kit,
    async prompt(turn) {
      const [first] = turn.session.mcpServers;
      const stopped = first?.connect({ signal: AbortSignal.abort(new Error("too late")) });
      await turn.say((await stopped?.then(String, (error: Error) => error.message)) ?? "none");
    },
  });
  const session = await talk.agent.newSession({ ...place, mcpServers: [stdio] });
  assert.equal(await session.prompt("go").text(), "too late");
  assert.deepEqual(kit.connected, []);
});

const hosted = {
  type: "acp",
  name: "far",
  serverId: "tool",
  _meta: { "_parley.dev/details": { agentUrl: "acp://host/search" } },
};

test("a server that another agent hosts is connected to by the address that the user has configured", async () => {
  const asked: unknown[] = [];
  const definition: Partial<AgentDefinition> = {
    mcpAgents: (address) =>
      address === "acp://host/search"
        ? async (serverName) => {
            asked.push(serverName);
            const close = async () => undefined;
            return { request: async (method) => said(method), close, [Symbol.asyncDispose]: close };
          }
        : undefined,
  };
  const { call, peer } = withScriptedClient({
    ...doing((_, [channel]) => channel?.request("ping")),
    ...definition,
  });
  await call("initialize", initialize(1));
  const { sessionId } = (await call("session/new", { cwd: "/project", mcpServers: [hosted] })) as {
    sessionId: string;
  };
  await call("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  assert.deepEqual(asked, ["tool"]);
  assert.match(
    JSON.stringify(peer.got),
    /"text":"\{\\"content\\":\[\{\\"type\\":\\"text\\",\\"text\\":\\"ping\\"\}\]\}"/,
  );
  const far = { ...hosted, _meta: { "_parley.dev/details": { agentUrl: "acp://evil/search" } } };
  const error = await rejects(call("session/new", { cwd: "/project", mcpServers: [far] }), -32602, {
    path: "/mcpServers/0/agentUrl",
  });
  assert.match(error.message, /"acp:\/\/evil\/search" is no agent that the user has configured/);
});

test("an agent that was told of no other agents uses none of their servers", async () => {
  const { call } = withScriptedClient(doing(() => 1));
  await call("initialize", initialize(1));
  await rejects(call("session/new", { cwd: "/project", mcpServers: [hosted] }), -32602);
});

test("other agents need the feature, and what hosts nothing is refused", () => {
  const list = { name: "x", version: "1", prompt: () => undefined, mcpServers: [] as never };
  assert.throws(() => agent(list), /agent: mcpServers must be an object of servers by name, got a list/);
  const info = { name: "x", version: "1", prompt: () => undefined };
  assert.throws(
    () => agent({ ...info, mcpAgents: () => undefined }),
    /mcpAgents is unstable: it needs unstable: \["mcp_over_acp"\]/,
  );
  assert.throws(
    () => agent({ ...info, mcpServers: { search: { tool: "add" } } }),
    /agent: mcpServers.search must be an MCP provider, with a name and a request function, got an object; .*@parley\/mcp/,
  );
});
