// Reads the description of an MCP server. `cwd` and `timeout` are extensions, also accepted in `_meta`.

import { isAbsolute, join } from "node:path";
import { isObject } from "@parley/acp/jsonrpc";
import type { McpServer } from "@parley/acp/model";
import type { ServerCommand } from "./stdio-transport.ts";

interface Described {
  readonly name: string;
  /** Milliseconds for the start and for each request. */
  readonly timeoutMs: number | undefined;
}

interface DescribedCommand extends Described, ServerCommand {
  readonly type: "stdio";
}

interface DescribedAddress extends Described {
  readonly type: "http" | "sse";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

export type DescribedServer = DescribedCommand | DescribedAddress;

/** The library has validated the description. Throws a TypeError for an address that is none, and for another kind. */
export function describedServer(server: McpServer, sessionCwd: string): DescribedServer {
  const fields = server as unknown as Readonly<Record<string, unknown>>; // each field is checked below
  const extra = isObject(fields["_meta"]) ? { ...fields["_meta"], ...fields } : fields;
  const { type = "stdio" } = fields;
  const name = String(fields["name"]);
  const timeout = extra["timeout"];
  const timeoutMs =
    typeof timeout === "number" && timeout > 0 && Number.isFinite(timeout) ? timeout : undefined;
  if (type === "http" || type === "sse") {
    const url = URL.parse(String(fields["url"]));
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw addressed(name, "its url must begin with http:// or https://");
    }
    return { type, name, timeoutMs, url, headers: pairs(fields["headers"]) };
  }
  if (type !== "stdio") {
    throw addressed(name, `expected the type stdio, http or sse, got ${String(type)}`);
  }
  const given = typeof extra["cwd"] === "string" ? extra["cwd"] : "";
  return {
    type,
    name,
    timeoutMs,
    command: String(fields["command"]),
    args: Array.isArray(fields["args"]) ? fields["args"].map(String) : [],
    env: pairs(fields["env"]),
    cwd: isAbsolute(given) ? given : join(sessionCwd, given),
  };
}

/** The cause has the reason alone, for those who name the server in their own way. */
function addressed(name: string, reason: string): TypeError {
  return new TypeError(`the MCP server ${name}: ${reason}`, { cause: new TypeError(reason) });
}

function pairs(list: unknown): Record<string, string> {
  const items = Array.isArray(list) ? list.filter(isObject) : [];
  return Object.fromEntries(items.map(({ name, value }) => [String(name), String(value)]));
}
