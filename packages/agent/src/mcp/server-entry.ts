// Parses the client's description of an MCP server. `cwd` and `timeout` are extensions, also accepted in `_meta`.

import { isAbsolute, join } from "node:path";
import type { McpServer } from "@parley/acp";
import { isObject } from "@parley/acp/internal";
import { Secrets, secretsOfEnvironment, secretsOfHeaders, secretsOfUrl } from "./secrets.ts";

interface CommonEntry {
  readonly name: string;
  /** Milliseconds for the start and for each call. */
  readonly timeoutMs: number | undefined;
  readonly secrets: Secrets;
}

export interface StdioEntry extends CommonEntry {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface RemoteEntry extends CommonEntry {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type ServerEntry = StdioEntry | RemoteEntry;

type Fields = Readonly<Record<string, unknown>>;

/** The library has validated the entry. `cwd` is the session's. */
export function readEntry(server: McpServer, cwd: string): ServerEntry {
  const fields = server as unknown as Fields; // each field is checked below
  const extra = isObject(fields["_meta"]) ? { ...fields["_meta"], ...fields } : fields;
  const name = plainName(String(fields["name"]));
  const timeoutMs = positive(extra["timeout"]);
  if (fields["type"] === "http" || fields["type"] === "sse") {
    const url = String(fields["url"]);
    const headers = pairs(fields["headers"]);
    const secrets = new Secrets([...secretsOfHeaders(headers), ...secretsOfUrl(url)]);
    return { type: fields["type"], name, url, headers, timeoutMs, secrets };
  }
  const given = typeof extra["cwd"] === "string" ? extra["cwd"] : "";
  const env = pairs(fields["env"]);
  return {
    type: "stdio",
    name,
    command: String(fields["command"]),
    args: Array.isArray(fields["args"]) ? fields["args"].map(String) : [],
    env,
    cwd: isAbsolute(given) ? given : join(cwd, given),
    timeoutMs,
    secrets: new Secrets(secretsOfEnvironment(env)),
  };
}

/** Names become part of tool and command names: no white space, no slash. */
function plainName(name: string): string {
  return name.replaceAll(/[\s/\p{Cc}]+/gu, "_").slice(0, 64) || "server";
}

function pairs(list: unknown): Record<string, string> {
  const found: Record<string, string> = {};
  for (const item of Array.isArray(list) ? list : []) {
    if (isObject(item)) found[String(item["name"])] = String(item["value"]);
  }
  return found;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 && Number.isFinite(value) ? value : undefined;
}
