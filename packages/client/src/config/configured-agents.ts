// Merges the ready agents with those of the config file.

import { optional } from "@parley/acp/internal";
import type { McpServer } from "@parley/acp/model";
import type { AgentEntry, AgentSpec, CommandEntry } from "../agents/agent-spec.ts";
import { readyAgents } from "../agents/ready-agents.ts";
import { ConfigError } from "./config-error.ts";

/** One agent of the section `agents`, as it was checked. */
export interface AgentSection {
  readonly title?: string;
  readonly transport?: "stdio" | "websocket" | "http";
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly pass?: readonly string[];
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly allowPlainText?: boolean;
  readonly mode?: string;
  readonly model?: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly handshakeTimeoutMs?: number;
}

export interface McpSection {
  readonly type?: "stdio" | "http" | "sse";
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The checked sections of the client. */
export interface ClientConfig {
  readonly agents?: Readonly<Record<string, AgentSection>>;
  readonly client?: {
    readonly agent?: string;
    readonly mcpServers?: Readonly<Record<string, McpSection>>;
  };
}

/**
 * The ready agents and those of the config, for `agents` of `connectAgent()`. Throws a ConfigError for an agent that cannot be
 * used.
 */
export function configuredAgents(config: ClientConfig): Readonly<Record<string, AgentSpec>> {
  return Object.fromEntries(agentEntries(readyAgents({ command: "parley" }), config));
}

/** By name: ready ones first, then those of the config. Throws a ConfigError for an agent that cannot be used. */
export function agentEntries(
  ready: readonly CommandEntry[],
  { agents = {} }: ClientConfig,
): ReadonlyMap<string, AgentEntry> {
  const all = new Map<string, AgentEntry>(ready.map((entry) => [entry.name, entry]));
  const wrong: string[] = [];
  for (const [name, section] of Object.entries(agents)) {
    const known = ready.find((entry) => entry.name === name);
    const problem = nameProblem(name) ?? sectionProblem(section, known !== undefined);
    if (problem === undefined) all.set(name, entryOf(name, section, known));
    else
      wrong.push(
        `agents.${/^[\w$-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80))} ${problem}`,
      );
  }
  if (wrong.length > 0) throw new ConfigError(wrong.join("\n"));
  return all;
}

function nameProblem(name: string): string | undefined {
  return /^[\w][\w.@-]{0,63}$/.test(name)
    ? undefined
    : "has a name with characters that are not allowed: use letters, digits, . _ - and @";
}

function sectionProblem(
  { command, args, url, headers, allowPlainText, transport }: AgentSection,
  isKnown: boolean,
): string | undefined {
  if (command !== undefined && url !== undefined) return "has a command and a url; give only one of them";
  if (url === undefined) {
    if (transport === "websocket" || transport === "http") return `needs a url with transport ${transport}`;
    if (headers !== undefined) return "has headers without a url";
    if (allowPlainText !== undefined) return "has allowPlainText without a url";
    if (command === undefined && !isKnown) return "needs a command or a url";
    return command === undefined && args !== undefined && !isKnown ? "has args without a command" : undefined;
  }
  if (transport === "stdio") return "has a url with transport stdio, which needs a command";
  if (args !== undefined) return "has args, which only a command takes";
  if (!/^(?:wss?|https?):\/\//i.test(url))
    return "has a url that is neither ws://, wss://, http:// nor https://";
  const isSocket = /^ws/i.test(url);
  return transport === "http" && isSocket ? "has a url for a WebSocket with transport http" : undefined;
}

function entryOf(name: string, section: AgentSection, known: CommandEntry | undefined): AgentEntry {
  const { title, handshakeTimeoutMs, url, headers, allowPlainText, transport } = section;
  const { mode, model, options } = section;
  const setup = optional({ mode, model, options });
  const facts = {
    name,
    ...optional({ title, handshakeTimeoutMs }),
    ...(Object.keys(setup).length === 0 ? {} : { setup }),
    origin: "config" as const,
  };
  if (url !== undefined) {
    const spoken = transport === "http" || /^http/i.test(url) ? "http" : "websocket";
    return {
      ...facts,
      transport: transport === "websocket" ? "websocket" : spoken,
      url,
      ...optional({ headers, allowPlainText }),
    };
  }
  return commandOf(section, facts, known);
}

/** The config changes a known agent; with another command it is another program. */
function commandOf(
  { command, args, env, pass }: AgentSection,
  facts: Pick<CommandEntry, "name" | "title" | "origin" | "setup" | "handshakeTimeoutMs">,
  known: CommandEntry | undefined,
): CommandEntry {
  const base = known ?? { command: "", args: [] };
  return {
    ...(known ?? {}),
    ...facts,
    transport: "stdio",
    command: command ?? base.command,
    args: args ?? (command === undefined ? base.args : []),
    ...(env === undefined ? {} : { env: { ...known?.env, ...env } }),
    ...(pass === undefined ? {} : { passes: [...(known?.passes ?? []), ...pass] }),
  };
}

/** The MCP servers of the config, as sessions take them. Throws ConfigError for one that cannot be used. */
export function configuredMcpServers({ client = {} }: ClientConfig): readonly McpServer[] {
  return Object.entries(client.mcpServers ?? {}).map(([name, section]) => mcpServer(name, section));
}

/** One server, in the shape that most tools have in their settings. */
export function mcpServer(name: string, section: McpSection): McpServer {
  const { type, command, args = [], env = {}, url, headers = {} } = section;
  const pairs = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([key, value]) => ({ name: key, value }));
  if (url !== undefined && command === undefined && type !== "stdio") {
    return { type: type ?? "http", name, url, headers: pairs(headers) };
  }
  if (command !== undefined && url === undefined && (type === undefined || type === "stdio")) {
    return { type: "stdio", name, command, args: [...args], env: pairs(env) };
  }
  throw new ConfigError(`the MCP server ${name} needs a command or a url, and a type that fits`);
}
