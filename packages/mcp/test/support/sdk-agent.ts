// A program: an agent on the official SDK of ACP that uses its session's MCP servers. Its argument says what it takes: "http",
// "stdio", or "acp", which is MCP over ACP. A prompt is JSON: the client of MCP and the text to echo. The answer says what came.

import { Readable, Writable } from "node:stream";
import { agent, McpOverAcpCaller, methods, ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import type { McpServer } from "@parley/acp/model";
import { type ClientName, mcpClients } from "./mcp-clients.ts";

const way = process.argv[2] ?? "stdio";
const servers = new Map<string, McpServer>();
const caller = new McpOverAcpCaller({ clientInfo: { name: "sdk-agent", version: "1.0.0" } });

agent({ name: "sdk-agent" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 1,
    agentCapabilities: { mcpCapabilities: { http: way === "http", acp: way === "acp" } },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const sessionId = `session-${servers.size + 1}`;
    const [server] = params.mcpServers;
    // as: a declaration means the same in both libraries
    if (server !== undefined) servers.set(sessionId, { type: "stdio", ...server } as unknown as McpServer);
    return { sessionId };
  })
  .onNotification(methods.agent.mcp.message, caller.handleNotification)
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const [block] = params.prompt;
    const { by, text } = JSON.parse(block?.type === "text" ? block.text : "{}") as {
      by: ClientName;
      text: string;
    };
    const server = servers.get(params.sessionId);
    if (server === undefined) throw new Error("the session has no MCP server");
    const call = { name: "echo", arguments: { text } };
    let result: unknown;
    if (server.type === "acp") {
      const outcome = await caller.request(client, String(server["serverId"]), "tools/call", call);
      result = "result" in outcome ? outcome.result : outcome.error;
    } else {
      const connected = await mcpClients[by](server);
      result = await connected.callTool(call);
      await connected.close();
    }
    const said = JSON.stringify({ way: server.type, result });
    await client.notify(methods.client.session.update, {
      sessionId: params.sessionId,
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: said } },
    });
    return { stopReason: "end_turn" };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream));
