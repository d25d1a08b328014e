// Reads the servers of the option --mcp.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { McpServer } from "@parley/acp/model";
import { ConfigError, mcpJsonServers } from "@parley/client/config";
import { usageError } from "../command/command.ts";
import { escapedLine } from "../terminal/sanitise.ts";

/** `NAME=URL`, JSON, or a file of JSON, in the shape that every MCP client reads: `{"mcpServers":{"name":{…}}}`. */
export async function mcpServersFrom(given: string): Promise<McpServer[]> {
  const [, name, url] = /^([\w.-]+)=(https?:\/\/.+)$/.exec(given) ?? [];
  if (name !== undefined && url !== undefined) return [{ type: "http", name, url, headers: [] }];
  const expected = 'give NAME=URL, or a file with {"mcpServers":{"NAME":{"command":"...","args":[]}}}';
  const isJson = given.trimStart().startsWith("{");
  const what = isJson ? "--mcp" : `--mcp ${escapedLine(given)}`;
  if (/^[\w.-]+=/.test(given) && !existsSync(given))
    throw usageError(`${what}: expected an http or https URL after NAME=`, expected);
  let parsed: unknown;
  try {
    parsed = JSON.parse(isJson ? given : await readFile(given, "utf8"));
  } catch (error) {
    throw usageError(`${what}: ${escapedLine(reasonOf(error as Error))}`, expected); // as: both throw Errors
  }
  try {
    return mcpJsonServers(parsed);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw usageError(`${what}: ${escapedLine(error.message)}`, expected);
  }
}

/** Without the quoted text, which may contain a key. */
function reasonOf({ message }: Error): string {
  return message.replace(/, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, "");
}
