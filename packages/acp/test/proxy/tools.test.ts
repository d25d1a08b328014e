// Tools of a client, and servers that proxies add, through chains.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject } from "../../src/base/objects.ts";
import { agent, client } from "../../src/index.ts";
import type { McpServer } from "../../src/model.ts";
import { answer, conductor, proxy } from "../../src/proxy.ts";
import { doing, said, server } from "../support/mcp-probe.ts";
import { byHand, empty } from "./chained.ts";

const unstable = ["mcp_over_acp"] as const;
/** What an agent answers that has MCP over ACP. */
const native = {
  v1: { protocolVersion: 1, agentCapabilities: { mcpCapabilities: { acp: true } } },
  v2: {
    protocolVersion: 2,
    capabilities: { session: { mcp: { acp: {} } } },
    info: { name: "agent", version: "1" },
  },
} as const;
const trace = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  vendor: { of: [1, null] },
};

for (const edition of ["v1", "v2"] as const) {
  test(`a call through three proxies keeps its trace and its progress (${edition}, M14, M20)`, async () => {
    const got: unknown[] = [];
    const progress: unknown[] = [];
    const asker = agent({
      name: "a",
      version: "1",
      ...doing((_, [channel]) =>
        channel?.request(
          "tools/call",
          { name: "add", arguments: {}, _meta: trace },
          { onNotification: (_method, params) => void progress.push(params?.["progress"]) },
        ),
      ),
    });
    const chain = conductor([...empty(3), asker]);
    const connection = await client({ name: "c", version: "1", editions: [edition], unstable }).connect(
      chain,
    );
    const add = server("sums", {
      add(_, { params, notify }) {
        got.push(params?.["_meta"]);
        notify("notifications/progress", { progress: 1 });
        return said("3");
      },
    });
    const session = await connection.newSession({ cwd: "/w", tools: [add] });
    assert.deepEqual(JSON.parse(await session.prompt("go").text()), said("3"));
    const { traceparent, vendor } = got[0] as typeof trace;
    assert.deepEqual({ traceparent, vendor }, trace);
    assert.deepEqual(progress, [1]);
    await connection.close();
  });

  test(`an agent of the generation with connections calls a tool through proxies (${edition}, M16)`, async () => {
    const behind = byHand((message, peer) => {
      if (message.method === "initialize") peer.answer(message, native[edition]);
      if (message.method === "session/new") peer.answer(message, { sessionId: "s" });
    });
    const chain = conductor([...empty(2), { name: "the agent", start: behind.start, onExit: "fail" }]);
    const connection = await client({ name: "c", version: "1", editions: [edition], unstable }).connect(
      chain,
    );
    await connection.newSession({ cwd: "/w", tools: [server("sums", { add: () => said("3") })] });
    const peer = await behind.peer(0);
    const opened = peer.got.find(({ method }) => method === "session/new");
    const [given] = (opened?.params?.["mcpServers"] ?? []) as { serverId: string }[];
    peer.request("a", "mcp/connect", { serverId: given?.serverId });
    const { connectionId } = (await peer.answered("a")).result as { connectionId: string };
    peer.request("b", "mcp/message", { connectionId, method: "tools/call", params: { name: "add" } });
    assert.deepEqual((await peer.answered("b")).result, said("3"));
    await connection.close();
  });

  test(`two proxies add a server of one name, and the agent reaches both (${edition}, P30)`, async () => {
    const adding = (serverId: string) =>
      proxy({
        name: serverId,
        version: "1",
        open: (setup) => ({
          ...setup,
          mcpServers: [...setup.mcpServers, { type: "acp", name: "search", serverId } as McpServer],
        }),
        messages: {
          "mcp/message": ({ params }) =>
            isObject(params) && params["serverId"] === serverId
              ? answer({ result: { tools: [{ name: `of ${serverId}` }] } })
              : undefined,
        },
      });
    const asker = agent({
      name: "a",
      version: "1",
      ...doing((_, channels) => Promise.all(channels.map((channel) => channel.request("tools/list")))),
    });
    const chain = conductor([adding("one"), adding("two"), asker]);
    const connection = await client({ name: "c", version: "1", editions: [edition], unstable }).connect(
      chain,
    );
    const session = await connection.newSession({ cwd: "/w", tools: [server("search", {})] });
    assert.deepEqual(JSON.parse(await session.prompt("go").text()), [
      { tools: [] },
      { tools: [{ name: "of one" }] },
      { tools: [{ name: "of two" }] },
    ]);
    await connection.close();
  });
}
