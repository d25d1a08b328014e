// Checks what a client opens a session with, sets an option to and logs in by.

import type { Activation } from "../../edition/agent-edition.ts";
import { argumentText, RequestError } from "../../jsonrpc/errors.ts";
import type { ArchiveFilter } from "../../model/agent-status.ts";
import type { SessionConfigOption } from "../../model/content.ts";
import { isJsonOption, type JsonValue, optionValue } from "../../model/custom-types.ts";
import type { SessionRecord } from "../../model/store.ts";
import { lists } from "../../validation/unstable-features.ts";
import { agentAddress } from "../mcp/session-servers.ts";
import type { AgentDefinition, LoginEnd, LoginRequest } from "./agent-definition.ts";

/** Throws -32602 for what the agent cannot use. No root and no server is left out silently. */
export function checkedActivation(given: Activation, definition: McpRules): Activation {
  const { mcpAgents, unstable = [] } = definition;
  const mcp = mcpKinds(definition);
  const activation = withSystemPrompt(given, lists(unstable, "system_prompt"));
  const { cwd, additionalDirectories, mcpServers } = activation;
  if (!isAbsolutePath(cwd)) throw RequestError.invalidParams("cwd must be an absolute path", "/cwd");
  for (const [i, directory] of additionalDirectories.entries()) {
    if (!isAbsolutePath(directory))
      throw RequestError.invalidParams("a directory must be an absolute path", `/additionalDirectories/${i}`);
  }
  for (const [i, server] of mcpServers.entries()) {
    const { type } = server;
    const offered = type === "stdio" || (/^(?:http|sse|acp)$/.test(type) && mcp[type as keyof typeof mcp]);
    const address = agentAddress(server);
    if (offered && address !== undefined && mcpAgents?.(address) === undefined) {
      const message = `${argumentText(address)} is no agent that the user has configured, so its MCP servers are not used`;
      throw RequestError.invalidParams(message, `/mcpServers/${i}/agentUrl`);
    }
    if (!offered) {
      const message = `this agent uses no MCP servers of type ${type.slice(0, 50)}`;
      throw RequestError.invalidParams(message, `/mcpServers/${i}/type`);
    }
  }
  return activation;
}

type McpRules = Pick<AgentDefinition, "mcp" | "mcpAgents" | "mcpCapabilities" | "unstable">;

/** The kinds of MCP servers beside stdio that sessions may have. A kit connects to all that its methods are for. */
export function mcpKinds({ mcp, mcpCapabilities = {}, unstable = [] }: McpRules): {
  readonly http: boolean;
  readonly sse: boolean;
  readonly acp: boolean;
} {
  const { http = mcp !== undefined, sse = mcp !== undefined } = mcpCapabilities;
  return { http, sse, acp: lists(unstable, "mcp_over_acp") };
}

/** Refuses a system prompt that is not text, or of an unknown mode. An agent that did not list it ignores it. */
function withSystemPrompt({ systemPrompt, ...activation }: Activation, isListed: boolean): Activation {
  if (systemPrompt === undefined || !isListed) return activation;
  const { mode, content } = systemPrompt as { mode?: unknown; content?: unknown };
  // the field is checked by the schema only where its own method is listed too
  if (!Array.isArray(content))
    throw RequestError.invalidParams("a system prompt needs a mode and content", "/systemPrompt");
  if (mode !== "append" && mode !== "override")
    throw RequestError.invalidParams(
      `a system prompt is appended or overrides, got ${String(mode).slice(0, 50)}`,
      "/systemPrompt/mode",
    );
  for (const [i, block] of content.entries()) {
    const type = (block as { type?: unknown } | null)?.type;
    if (type !== "text")
      throw RequestError.invalidParams(
        `a system prompt is text, got ${String(type).slice(0, 50)}`,
        `/systemPrompt/content/${i}/type`,
      );
  }
  return { ...activation, systemPrompt };
}

/** On any operating system: the client's may be another than ours. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith("/") || path.startsWith("\\\\") || /^[A-Za-z]:[\\/]/.test(path);
}

/** The option with its new value. Throws -32602 for a value that it does not offer. */
export function checkOptionValue(
  options: readonly SessionConfigOption[],
  configId: string,
  value: JsonValue,
  /** Where the request has the value. */
  path = "/value",
): SessionConfigOption {
  const option = options.find((each) => each.configId === configId);
  const wrong = (message: string, where: string) => RequestError.invalidParams(message.slice(0, 500), where);
  if (option === undefined) {
    const ids = options.map((each) => each.configId).join(", ");
    throw wrong(`the session has no option ${quoted(configId)}; it has: ${ids || "none"}`, "/configId");
  }
  if (option.type === "boolean") {
    if (typeof value !== "boolean") {
      throw wrong(`the option ${configId} takes true or false, got ${quoted(value)}`, path);
    }
    return { ...option, currentValue: value };
  }
  if (isJsonOption(option)) return { ...option, currentValue: value };
  if (option.type !== "select") throw wrong(`the option ${configId} cannot be set`, "/configId");
  const offered = option.options.flatMap((choice) => ("groupId" in choice ? choice.options : [choice]));
  if (typeof value !== "string" || !offered.some((choice) => choice.value === value)) {
    const values = offered.map((choice) => choice.value).join(", ");
    throw wrong(`the option ${configId} takes one of: ${values}; got ${quoted(value)}`, path);
  }
  return { ...option, currentValue: value };
}

/** The values of the options, to be stored. */
export function storedValues(options: readonly SessionConfigOption[]): SessionRecord["config"] {
  const values = options.flatMap((option) => {
    const value = optionValue(option);
    return value === undefined ? [] : [[option.configId, value] as const];
  });
  return Object.fromEntries(values);
}

/** The options with their values of before, where the app still offers these. The same list if nothing changes. */
export function restoredOptions(
  options: readonly SessionConfigOption[],
  config: SessionRecord["config"],
): readonly SessionConfigOption[] {
  let restored = options;
  for (const [configId, value] of Object.entries(config)) {
    try {
      const chosen = checkOptionValue(restored, configId, value);
      restored = restored.map((option) => (option.configId === configId ? chosen : option));
    } catch {
      // no longer offered: the default stands
    }
  }
  return restored;
}

/** Throws -32602 for a filter that is not known: it must not count as another. */
export function archiveFilter(given = "exclude"): ArchiveFilter {
  if (given === "exclude" || given === "include" || given === "only") return given;
  const message = `archived must be "exclude", "include" or "only", got ${quoted(given)}`;
  throw RequestError.invalidParams(message, "/archived");
}

function quoted(value: JsonValue): string {
  return JSON.stringify(typeof value === "string" ? value.slice(0, 80) : value).slice(0, 90);
}

/** Throws -32602 for a method that is unknown, or that the client runs in a terminal. */
export async function logIn(
  definition: AgentDefinition,
  methodId: string,
  request: LoginRequest,
): Promise<LoginEnd> {
  const { methods = [], login } = definition.auth ?? {};
  const method = methods.find((each) => each.methodId === methodId);
  if (method === undefined || method.type === "terminal" || login === undefined) {
    const known = methods.filter(({ type }) => type !== "terminal").map((each) => String(each.methodId));
    const message = `there is no such method to log in with; there are: ${known.join(", ") || "none"}`;
    throw RequestError.invalidParams(message, "/methodId");
  }
  const end = (await login.call(definition.auth, methodId, request)) ?? {};
  const { expiresAt } = end;
  if (expiresAt !== undefined && Number.isNaN(Date.parse(expiresAt)))
    throw new TypeError(
      `auth.login: expiresAt must be a time such as "2026-03-01T12:00:00Z", got ${argumentText(expiresAt)}`,
    );
  return end;
}
