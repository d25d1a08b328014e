// Leaves out MCP servers of a workspace at private addresses that the user did not name (TH14).

import type { McpServer } from "@parley/acp/model";
import { configuredMcpServers } from "@parley/client/config";
import { type Config, readConfig } from "../settings/config-file.ts";
import { escapedLine } from "../terminal/sanitise.ts";

interface ServerCheck {
  readonly config?: Config;
  /** Whether names are looked up. */
  readonly isResolving?: boolean;
}

/**
 * Why servers of a folder will not be used, one line each. The folder may not be trusted yet, so its names are not looked
 * up: that alone would tell a stranger.
 */
export async function privateNotes(
  servers: readonly McpServer[],
  config?: Config,
): Promise<readonly string[]> {
  if (servers.length === 0) return [];
  const notes: string[] = [];
  const known = config ?? readConfig(() => undefined);
  const check = { config: known, isResolving: false };
  await usableServers(servers, configuredMcpServers(known), (text) => notes.push(text), check);
  return notes;
}

/** `own` are the user's servers: their names and addresses win. */
export async function usableServers(
  servers: readonly McpServer[],
  own: readonly McpServer[],
  notice: (text: string) => void,
  { config = readConfig(() => undefined), isResolving = true }: ServerCheck = {},
): Promise<readonly McpServer[]> {
  const names = new Set(own.map(({ name }) => name));
  const usable: McpServer[] = [];
  for (const server of servers.filter(({ name }) => !names.has(name))) {
    const origin = originOf(server);
    const named = withOwnOrigin(server, own);
    if (origin === undefined || named !== server) usable.push(named);
    else {
      const problem = await privateProblem(origin, config, isResolving);
      if (problem === undefined) usable.push(server);
      else notice(`MCP server ${escapedLine(String(server.name))} in .mcp.json is ignored: ${problem}`);
    }
  }
  return usable;
}

/** Without its mark, if the user named its address. */
export function withOwnOrigin(server: McpServer, own: readonly McpServer[]): McpServer {
  const origin = originOf(server);
  if (origin === undefined || !own.some((each) => originOf(each) === origin)) return server;
  const { _meta, ...rest } = server as McpServer & { readonly _meta?: unknown };
  return rest as McpServer; // as: the same server without its mark
}

function originOf(server: McpServer): string | undefined {
  const { url } = server as { readonly url?: unknown }; // stdio servers have none
  return typeof url === "string" ? (URL.parse(url)?.origin ?? url) : undefined;
}

async function privateProblem(
  origin: string,
  { agent: { privateHosts = [] } = {} }: Config,
  isResolving: boolean,
): Promise<string | undefined> {
  const { privateHostProblem } = await import("@parley/agent/config");
  const url = URL.parse(origin);
  if (url === null || !/^https?:$/.test(url.protocol)) return "its url must start with http:// or https://";
  return privateHostProblem(url, privateHosts, isResolving);
}
