// One MCP server as the client names it, decoded once. `cwd` and `timeout` are no fields of versions 1 and 2; they are
// taken where they stand, in the entry or in its _meta.

import { isAbsolute, join } from "node:path";
import type { McpServer } from "@parley/acp";
import { Secrets, secretsOfEnvironment, secretsOfHeaders, secretsOfUrl } from "./secrets.ts";

interface CommonEntry {
  readonly name: string;
  /** Milliseconds: for the start, and for each call. */
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

/** The library has checked it against the schema, and lets no other types through. `cwd` is the session's. */
export function readEntry(server: McpServer, cwd: string): ServerEntry {
  const fields = server as unknown as Fields; // each field is looked at below
  const extra = isFields(fields["_meta"]) ? { ...fields["_meta"], ...fields } : fields;
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

/** A name is part of those of tools and commands: no white space, no slash. */
function plainName(name: string): string {
  return name.replaceAll(/[\s/\p{Cc}]+/gu, "_").slice(0, 64) || "server";
}

function pairs(list: unknown): Record<string, string> {
  const found: Record<string, string> = {};
  for (const item of Array.isArray(list) ? list : []) {
    if (isFields(item)) found[String(item["name"])] = String(item["value"]);
  }
  return found;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 && Number.isFinite(value) ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
