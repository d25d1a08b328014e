// MCP servers and variables. The dialect has maps where version 1 has lists, and its servers have no names.

import { detailsOf, withDetails, withoutDetails } from "../exchange/details.ts";
import { type Fields, type Lost, metaField } from "../exchange/exchange.ts";
import { isObject } from "../exchange/library.ts";
import type { McpServer } from "../wire/pharo/types.gen.ts";

/** A map of strings as the list that version 1 has. */
export function mapToList(map: { readonly [name: string]: string }): { name: string; value: string }[] {
  return Object.entries(map).map(([name, value]) => ({ name, value }));
}

/** The last one counts where two have one name. Entries keep `__proto__` a plain name. */
export function listToMap(list: unknown): { [name: string]: string } {
  if (!Array.isArray(list)) return {};
  return Object.fromEntries(list.map(({ name, value }: Fields) => [name, value]));
}

export function serversToV1(servers: readonly McpServer[] | undefined): Fields[] {
  return (servers ?? []).map(serverToV1);
}

function serverToV1(server: McpServer, index: number): Fields {
  const { name = madeUpName(server.transport === "stdio" ? server.command : server.url, index) } =
    detailsOf(server);
  const meta = withoutDetails(server, ["name"]);
  if (server.transport === "stdio") {
    const { command, args = [], env = {} } = server;
    return { name, command, args, env: mapToList(env), ...meta };
  }
  const { transport: type, url, headers = {} } = server;
  return { type, name, url, headers: mapToList(headers), ...meta };
}

/** The last part of the command or of the address; the number tells equal ones apart. */
function madeUpName(path: unknown, index: number): string {
  const last = String(path)
    .split(/[/\\]/)
    .findLast((part) => part !== "");
  return `${last ?? "server"}-${index + 1}`;
}

export function serversToPharo(servers: unknown, lost: Lost): Fields[] {
  if (!Array.isArray(servers)) return [];
  return (servers as readonly Fields[]).flatMap<Fields>(
    (server, index) => serverToPharo(server, index, lost) ?? [],
  ); // of version 1
}

function serverToPharo(server: Fields, index: number, lost: Lost): Fields | undefined {
  const { type, name, command, args, env, url, headers } = server;
  // the dialect has no names; one that was made up is made up again
  const isMadeUp = name === madeUpName(command ?? url, index);
  const meta = withDetails(server, { name: isMadeUp ? undefined : name });
  if (type === undefined || type === "stdio")
    return { transport: "stdio", command, args: args ?? [], env: listToMap(env), ...meta };
  if (type === "http" || type === "sse")
    return { transport: type, url, headers: listToMap(headers), ...meta };
  lost(`an MCP server of type ${String(type)}`);
  return undefined;
}

/** The params of `session/new` and `session/load` without what the dialect does not have. */
export function sessionToPharo(params: Fields, lost: Lost): { mcpServers: Fields[]; _meta?: Fields } {
  const { additionalDirectories, systemPrompt, mcpServers } = params;
  if (Array.isArray(additionalDirectories) && additionalDirectories.length > 0)
    lost("the further directories of a session");
  if (isObject(systemPrompt) || typeof systemPrompt === "string") lost("the system prompt of a session");
  return { mcpServers: serversToPharo(mcpServers, lost), ...metaField(params) };
}
