// The official MCP clients, connected to a server as an agent was told of it.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { McpServer } from "@parley/acp/model";

export type Http = Extract<McpServer, { type: "http" }>;
export type Stdio = Extract<McpServer, { type: "stdio" }>;

export const headersOf = ({ headers = [] }: Http) =>
  Object.fromEntries(headers.map(({ name, value }) => [name, value]));
export const envOf = ({ env = [] }: Stdio) => Object.fromEntries(env.map(({ name, value }) => [name, value]));

/** What the transports of stdio take. */
export const commandOf = ({ command, args = [], ...server }: Stdio) => ({
  command,
  args: [...args],
  env: envOf({ command, ...server }),
});

const info = { name: "agent", version: "1.0.0" };

/** The one of before, the current one with a handshake, and the current one without. */
export const mcpClients = {
  async older(server: McpServer) {
    const client = new OlderClient(info);
    const transport =
      server.type === "http"
        ? new OlderHttp(new URL((server as Http).url), {
            requestInit: { headers: headersOf(server as Http) },
          })
        : new OlderStdio(commandOf(server as Stdio));
    // as: that package is compiled without exactOptionalPropertyTypes
    await client.connect(transport as never);
    return client;
  },
  handshake: (server: McpServer) => current(server, "legacy"),
  current: (server: McpServer) => current(server, { pin: "2026-07-28" }),
} as const;

export type ClientName = keyof typeof mcpClients;

async function current(server: McpServer, mode: "legacy" | { pin: string }) {
  const client = new Client(info, { versionNegotiation: { mode } });
  const transport =
    server.type === "http"
      ? new StreamableHTTPClientTransport(new URL((server as Http).url), {
          requestInit: { headers: headersOf(server as Http) },
        })
      : new StdioClientTransport(commandOf(server as Stdio));
  await client.connect(transport);
  return client;
}
