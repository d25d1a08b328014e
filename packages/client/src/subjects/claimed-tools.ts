// Finds the tool of an MCP server that a tool call says it calls.

import { isObject } from "@parley/acp/jsonrpc";
import type { ToolCallUpdate } from "@parley/acp/model";
import type { Fields } from "./claim-fields.ts";
import type { RuleSubject } from "./subject.ts";

type Call = Partial<Omit<ToolCallUpdate, "toolCallId">>;
type Tool = NonNullable<RuleSubject["tool"]>;

/** Each tool once. What only a title says is a label. */
export function claimedTools(call: Call, objects: readonly Fields[]): RuleSubject[] {
  const claude = isObject(call._meta?.["claudeCode"]) ? call._meta["claudeCode"] : {};
  const names = [call.name, call._meta?.["toolName"], claude["toolName"]];
  const server = markedServer(call, claude);
  const said = [
    ...objects.flatMap(inFields),
    ...names.flatMap((name) => [...prefixed(name), ...(server === undefined ? [] : marked(name, server))]),
  ];
  const found = new Map<string, RuleSubject>();
  const add = (tool: Tool, more: Pick<RuleSubject, "labelOnly"> = {}): void => {
    const key = `${tool.server}/${tool.name}`;
    if (!found.has(key)) found.set(key, { origin: "claim", operation: "mcp", tool, ...more });
  };
  for (const tool of said) add(tool);
  for (const tool of inTitle(call.title ?? "")) add(tool, { labelOnly: true });
  return [...found.values()];
}

/** `{ server, tool }`, or a tool with the server in its name. */
function inFields(fields: Fields): Tool[] {
  const text = (wanted: "server" | "tool") =>
    fields.find(({ meaning, value }) => meaning === wanted && typeof value === "string")?.value;
  const [server, name] = [text("server"), text("tool")];
  if (typeof server === "string" && typeof name === "string") return [{ server, name }];
  return fields.flatMap(({ key, meaning, value }) =>
    meaning === "tool" || key === "name" ? prefixed(value) : [],
  );
}

/** The form that most agents use. */
function prefixed(name: unknown): Tool[] {
  return read(/^mcp__(?<server>.+?)__(?<name>\S+)$/, name);
}

/** The server where the agent says that this is a tool of one; empty where it does not say of which. */
function markedServer({ _meta }: Call, claude: Readonly<Record<string, unknown>>): string | undefined {
  const server = isObject(claude["mcpServer"]) ? claude["mcpServer"]["name"] : _meta?.["serverId"];
  const isMarked = _meta?.["is_mcp_tool_call"] === true || _meta?.["provenance"] === "mcp";
  return typeof server === "string" ? server : isMarked ? "" : undefined;
}

/** `SERVER__TOOL` and `SERVER_TOOL` could be anything, so that only a mark makes them a tool of a server. */
function marked(name: unknown, server: string): Tool[] {
  if (typeof name !== "string" || name.startsWith("mcp__")) return [];
  if (server !== "" && name.startsWith(server))
    return [{ server, name: name.slice(server.length).replace(/^(?:__|[_.:/-])/, "") }];
  return server === ""
    ? read(/^(?<server>.+?)__(?<name>\S+)$|^(?<server>[^_]+)_(?<name>\S+)$/, name)
    : [{ server, name }];
}

const titles = [
  /^mcp__(?<server>.+?)__(?<name>\S+)$/,
  /^mcp\.(?<server>[^.\s]+)\.(?<name>\S+)$/,
  /^Tool: (?<server>[^/\s]+)\/(?<name>\S+)$/,
  /^(?<name>\S+) \((?<server>.+) MCP Server\)$/,
];

function inTitle(title: string): Tool[] {
  return titles.flatMap((form) => read(form, title));
}

function read(form: RegExp, text: unknown): Tool[] {
  const { server, name } = (typeof text === "string" ? form.exec(text)?.groups : undefined) ?? {};
  return server === undefined || name === undefined ? [] : [{ server, name }];
}
