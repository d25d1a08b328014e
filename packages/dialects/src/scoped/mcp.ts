// Translates the MCP servers of a session.

import type * as v1 from "@parley/acp/v1";
import { withoutMeta } from "../exchange/details.ts";
import type { Lost } from "../exchange/exchange.ts";
import { detailsKey, RequestError } from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import { countOf, detailText, dialectDetails, metaWithDetails } from "./details.ts";

export function serverFromScoped(server: scoped.McpServer, index: number): v1.McpServer {
  const { name, transport } = server;
  switch (transport.type) {
    case "stdio": {
      const { command, args, env, cwd } = transport;
      const meta = metaWithDetails(server, { cwd });
      return { name, command, args: args ?? [], env: pairsOf(env), ...meta };
    }
    case "http":
    case "sse": {
      const { type, url, headers, timeout } = transport;
      return { type, name, url, headers: pairsOf(headers), ...metaWithDetails(server, { timeout }) };
    }
    case "acp":
      return {
        type: "acp",
        name,
        serverId: transport.mcpServerName,
        ...metaWithDetails(server, { agentUrl: transport.agentUrl }),
      };
    default: {
      const at = `/mcpServers/${index}/transport/type`;
      throw RequestError.invalidParams(`session/new: params${at} must be stdio, http, sse or acp`, at);
    }
  }
}

export function serverToScoped(server: v1.McpServer): scoped.McpServer {
  const details = dialectDetails(server) ?? {};
  const common = { name: server.name, ...withoutMeta(server, [detailsKey]) };
  if (!("type" in server) || server.type === undefined) {
    const { command, args, env } = server as v1.McpServerStdio;
    const cwd = detailText(details["cwd"]);
    const rest = { ...(args.length === 0 ? {} : { args }), ...named("env", env), ...(cwd && { cwd }) };
    return { ...common, transport: { type: "stdio", command, ...rest } };
  }
  if (server.type === "acp") {
    const agentUrl = detailText(details["agentUrl"]) ?? "";
    return { ...common, transport: { type: "acp", agentUrl, mcpServerName: server.serverId } };
  }
  const { type, url, headers } = server;
  const timeout = countOf(details["timeout"]);
  const rest = { ...named("headers", headers), ...(timeout === undefined ? {} : { timeout }) };
  return { ...common, transport: { type, url, ...rest } };
}

/** Those that the agent connects to. It said so in its capabilities. */
export function serversFor(
  servers: readonly v1.McpServer[],
  can: scoped.McpCapabilities | null | undefined,
  lost: Lost,
): scoped.McpServer[] {
  const transports = can?.transport ?? undefined;
  return servers.map(serverToScoped).filter(({ name, transport }) => {
    const isTaken = can?.servers !== false && transports?.includes(transport.type) !== false;
    if (!isTaken) lost(`the MCP server ${name}: the agent does not connect to servers by ${transport.type}`);
    return isTaken;
  });
}

export function pairsOf(
  map: { [key: string]: string } | null | undefined,
): { name: string; value: string }[] {
  return Object.entries(map ?? {}).map(([name, value]) => ({ name, value }));
}

/** A map has each name once: of several the last counts. */
export function mapOf(list: readonly { name: string; value: string }[]): { [key: string]: string } {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

function named<Name extends string>(name: Name, list: readonly { name: string; value: string }[]) {
  return list.length === 0 ? {} : { [name]: mapOf(list) };
}
