// Reads MCP servers in the shape that most tools write: `{"mcpServers":{"NAME":{…}}}`.

import { isObject, optional } from "@parley/acp/jsonrpc";
import type { McpServer } from "@parley/acp/model";
import { ConfigError } from "./config-error.ts";
import { type McpSection, mcpServer } from "./configured-agents.ts";

/**
 * Reads MCP servers from the form that most tools write: `{"mcpServers":{"NAME":{…}}}`. Unknown fields are ignored.
 *
 * @param onBroken - Called with a message for each server that cannot be read. Default: throws.
 * @throws {ConfigError} When there is no object `mcpServers`, or a server in it cannot be read.
 *
 * @example
 * import { readFileSync } from "node:fs";
 * import { mcpJsonServers } from "@parley/client/config";
 *
 * const servers = mcpJsonServers(JSON.parse(readFileSync(".mcp.json", "utf8")), console.warn);
 * console.log(servers.length);
 */
export function mcpJsonServers(parsed: unknown, onBroken?: (why: string) => void): McpServer[] {
  const servers = isObject(parsed) ? parsed["mcpServers"] : undefined;
  if (!isObject(servers)) throw new ConfigError("expected an object with mcpServers");
  return Object.entries(servers).flatMap(([name, entry]) => {
    try {
      return [mcpServer(name, sectionOf(entry))];
    } catch (error) {
      if (onBroken === undefined || !(error instanceof ConfigError)) throw error;
      onBroken(error.message);
      return [];
    }
  });
}

function sectionOf(entry: unknown): McpSection {
  const { type, command, args, env, url, headers } = isObject(entry) ? entry : {};
  const texts = (from: unknown) =>
    Object.fromEntries(Object.entries(from ?? {}).map(([key, value]) => [key, String(value)]));
  return {
    ...optional({
      type: type === "stdio" || type === "http" || type === "sse" ? type : undefined,
      command: typeof command === "string" ? command : undefined,
      args: Array.isArray(args) ? args.map(String) : undefined,
      url: typeof url === "string" ? url : undefined,
    }),
    env: texts(env),
    headers: texts(headers),
  };
}
