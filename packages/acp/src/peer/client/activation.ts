// Checks the options that a session is opened with, against what the agent offers.

import { isObject, optional } from "../../base/objects.ts";
import { extensionIn, forkBeforeKey, takeoverKey } from "../../base/parley-extensions.ts";
import type { Activation, AgentCapabilities } from "../../edition/agent-edition.ts";
import { argumentText, ConnectionError } from "../../jsonrpc/errors.ts";
import type { SystemPrompt } from "../../model/content.ts";
import { completeServers } from "../../model/outgoing.ts";
import { checkAbsolute, checkCall } from "./call-arguments.ts";
import type { ForkOptions, ReopenOptions } from "./client-connection.ts";
import { needs } from "./session-requests.ts";

/** What a session is opened with. Throws a TypeError for what is wrong, unknown or not offered. */
export function activation(
  method: string,
  options: ReopenOptions & ForkOptions,
  known: Readonly<Record<string, true>>,
  agent: AgentCapabilities,
): Activation {
  if (!isObject(options)) {
    const wanted = 'an object with `cwd` as the last argument, as { cwd: "/absolute/path" }';
    throw new TypeError(`${method}: expected ${wanted}, got ${argumentText(options)}`);
  }
  checkCall(method, options, known);
  const { cwd, additionalDirectories = [], systemPrompt, takeover, before } = options;
  if (before !== undefined) checkForkBefore(method, before, agent);
  const ours = optional({ [takeoverKey]: takeover === true ? true : undefined, [forkBeforeKey]: before });
  const _meta = Object.keys(ours).length > 0 ? { ...options._meta, ...ours } : options._meta;
  checkList(method, options.mcpServers);
  checkTools(method, options.tools);
  const mcpServers = completeServers(options.mcpServers ?? []);
  checkAbsolute(method, "cwd", cwd);
  for (const directory of additionalDirectories) checkAbsolute(method, "additionalDirectories", directory);
  if (additionalDirectories.length > 0) needs(agent.additionalDirectories, "take additional directories");
  if (systemPrompt !== undefined) checkSystemPrompt(systemPrompt, agent);
  for (const { type } of mcpServers) {
    if (type === "http") needs(agent.mcpHttp, "use MCP servers over HTTP");
    else if (type === "stdio") needs(agent.mcpStdio, "use MCP servers over stdio");
    else if (type === "sse") needs(agent.mcpSse, "use MCP servers over SSE");
  }
  const roots = [...new Set(additionalDirectories)].filter((root) => root !== cwd);
  return { cwd, additionalDirectories: roots, mcpServers, ...optional({ systemPrompt, _meta }) };
}

/** The request that forks a session, like the one that opens a new one. */
export function forkCall(sessionId: string, { params }: { readonly params: unknown }) {
  return { method: "session/fork", params: { ...(params as object), sessionId } } as const; // as: of a request
}

/** The id comes first: options alone are easily passed in its place. */
export function checkSessionId(method: string, sessionId: unknown): void {
  if (typeof sessionId === "string") return;
  const got = argumentText(sessionId);
  throw new TypeError(
    `${method}: expected the id of a session first, got ${got}; write ${method}(sessionId, { cwd })`,
  );
}

function checkForkBefore(method: string, before: unknown, { partsMeta }: AgentCapabilities): void {
  if (typeof before !== "string" || before === "")
    throw new TypeError(`${method}: before must be the id of a message, got ${argumentText(before)}`);
  needs(extensionIn(partsMeta?.["session.fork"], forkBeforeKey) === true, "fork a session before a message");
}

function checkList(method: string, mcpServers: unknown): void {
  if (mcpServers === undefined || Array.isArray(mcpServers)) return;
  const wanted = 'a list such as [{ name: "files", command: "/usr/bin/files-mcp", args: [] }]';
  throw new TypeError(`${method}: mcpServers must be ${wanted}, got ${argumentText(mcpServers)}`);
}

function checkTools(method: string, tools: unknown): void {
  if (tools === undefined) return;
  const wrong: unknown = Array.isArray(tools)
    ? tools.find((tool) => typeof tool !== "object" || tool === null)
    : tools;
  if (wrong === undefined) return;
  throw new TypeError(`${method}: tools must be a list of tools and MCP servers, got ${argumentText(wrong)}`);
}

/** Only what was declared, and text. */
function checkSystemPrompt({ mode, content }: SystemPrompt, agent: AgentCapabilities): void {
  needs(agent.systemPrompt, "take a system prompt", "system_prompt");
  if (mode === "override") needs(agent.systemPromptOverride, "let a system prompt override its own");
  if (content.length === 0 || content.some((block) => block.type !== "text" || block.text === ""))
    throw new TypeError("systemPrompt: its content must be one or more blocks of text, none of them empty");
}

/** The error for an answer that opens a session without its id. */
export function namelessSession(method: string): ConnectionError {
  return new ConnectionError("protocol", `${method}: result/sessionId must not be empty`);
}
