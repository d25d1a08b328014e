// The MCP server that a v2 agent starts to reach the editor's tools through the bridge.

import { once } from "node:events";
import { connect } from "node:net";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Connection } from "@parley/acp/jsonrpc";
import { streamTransport } from "@parley/acp/node";
import { type ClientTool, clientTools } from "./tool-definitions.ts";

export async function run(): Promise<number> {
  const { PARLEY_BRIDGE_SOCKET: path, PARLEY_BRIDGE_TOKEN: token } = process.env;
  if (path === undefined || token === undefined) {
    process.stderr.write(
      "parley: bridge-mcp is started by agents behind parley bridge; PARLEY_BRIDGE_SOCKET is not set\n",
    );
    return 2;
  }
  let bridge: Connection;
  let offered: readonly string[];
  try {
    bridge = await reach(path);
    ({ tools: offered } = await bridge.request<{ tools: string[] }>("hello", { token }));
  } catch (error) {
    process.stderr.write(`parley: cannot connect to the bridge: ${(error as Error).message}\n`);
    return 1;
  }
  const over = Promise.race([bridge.closed, once(process.stdin, "close"), once(process.stdin, "end")]);
  const serving = serveStdio(() => serverFor(bridge, offered));
  await over;
  await Promise.allSettled([serving.close(), bridge.close()]);
  return 0;
}

async function reach(path: string): Promise<Connection> {
  const socket = connect(path);
  await once(socket, "connect");
  return new Connection(streamTransport(socket, { framing: "ndjson" }), {
    handlers: { request: () => undefined, notification: () => undefined },
  });
}

function serverFor(bridge: Connection, offered: readonly string[]): McpServer {
  const server = new McpServer(
    { name: "parley-editor", version: "0.1.0", title: "The user's editor" },
    { capabilities: { tools: {} } },
  );
  for (const tool of clientTools) if (offered.includes(tool.name)) register(server, bridge, tool);
  return server;
}

function register(server: McpServer, bridge: Connection, tool: ClientTool): void {
  const { name, description, isReadOnly, inputSchema } = tool;
  const config = {
    description,
    inputSchema: fromJsonSchema<object>(inputSchema as never), // as: a literal of the expected shape
    annotations: { readOnlyHint: isReadOnly },
  };
  server.registerTool(name, config, async (args, { mcpReq }) => {
    try {
      const { text } = await bridge.request<{ text: string }>(name, args, { signal: mcpReq.signal });
      return { content: [{ type: "text" as const, text }] };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { content: [{ type: "text" as const, text }], isError: true };
    }
  });
}
