// An agent connects to a real MCP server of every kind, in every edition that has the kind.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client, type Editions } from "@parley/acp";
import type { McpServer } from "@parley/acp/model";
import { memoryPair } from "@parley/acp/transport";
import { scoped } from "@parley/dialects";
import { mcpKit } from "@parley/mcp";
import { temporaryFolder } from "../../test/support/agent-probe.ts";
import { realServer, remoteServer, servedEverything } from "../../test/support/mcp-probe.ts";

const calling = (editions: Editions) =>
  agent({
    name: "calling",
    version: "1",
    editions,
    mcp: mcpKit(),
    async prompt(turn) {
      const [server] = turn.session.mcpServers;
      const channel = await server?.connect({ signal: turn.signal });
      const call = { name: "echo", arguments: { message: turn.text } };
      await turn.say(JSON.stringify(await channel?.request("tools/call", call)));
    },
  });

async function echoed(editions: Editions, server: McpServer, cwd: string): Promise<string> {
  const [near, far] = memoryPair();
  const served = calling(editions);
  served.connect(far);
  const connection = await client({ name: "c", version: "1", editions }).connect(near);
  const session = await connection.newSession({ cwd, mcpServers: [server] });
  const answer = await session.prompt("hello").text();
  await connection.close();
  await served.close();
  return answer;
}

const editions = { v1: ["v1"], v2: ["v2"], scoped: [scoped()] } as const satisfies Record<string, Editions>;
const kinds = { stdio: ["v1", "v2", "scoped"], http: ["v1", "v2", "scoped"], sse: ["v1", "scoped"] } as const;

for (const [kind, spoken] of Object.entries(kinds))
  test(`a server of the kind ${kind} is called (${spoken.join(", ")}; A20)`, {
    timeout: 120_000,
  }, async (context) => {
    const cwd = temporaryFolder(context, {});
    const server =
      kind === "stdio"
        ? realServer("everything")
        : remoteServer(
            kind === "sse" ? "sse" : "http",
            (await servedEverything(context, kind === "sse" ? "sse" : "streamableHttp")).url,
          );
    for (const name of spoken)
      assert.match(await echoed(editions[name], server, cwd), /Echo: hello/, `${kind}, ${name}`);
  });
