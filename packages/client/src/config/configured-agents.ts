// Merges the ready agents with those of the config file.

import { optional } from "@parley/acp/jsonrpc";
import type { McpServer } from "@parley/acp/model";
import type { NamedEdition } from "@parley/dialects";
import type { CommandProfile } from "@parley/sandbox";
import type { AgentEntry, AgentSpec, CommandEntry } from "../agents/agent-spec.ts";
import { readyAgents } from "../agents/ready-agents.ts";
import { checkHostPattern } from "../rules/host-pattern.ts";
import { PatternError } from "../rules/name-pattern.ts";
import { ConfigError } from "./config-error.ts";

/** One agent of the section `agents`. */
export interface AgentSection {
  /** The name for users. Default: the agent's key. */
  readonly title?: string;
  /** Default: "stdio" with a command, otherwise the transport of the url. */
  readonly transport?: "stdio" | "websocket" | "http";
  /** The program, without arguments. Give either `command` or `url`. */
  readonly command?: string;
  /** The arguments of the program. */
  readonly args?: readonly string[];
  /** Variables that are added to the agent's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The variables that the agent gets from the environment of this process, besides those that every program needs.
   * `NAME_*` matches a prefix. Default: all.
   */
  readonly pass?: readonly string[];
  /** The address, such as `https://agents.example.com/acp`, or `wss:` for a WebSocket. */
  readonly url?: string;
  /** Headers of every request to the address. They are never shown. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Allows unencrypted `http:` and `ws:` to other machines. Default false. */
  readonly allowPlainText?: boolean;
  /** Whether its process runs in a sandbox. Default false. */
  readonly sandbox?: boolean;
  /** Folders that it can write to in a sandbox beside its workspace: absolute paths, or `~/` and a path below home. */
  readonly state?: readonly string[];
  /** The hosts that it reaches in a sandbox. Default: all. */
  readonly hosts?: readonly string[];
  /** The mode of new sessions. */
  readonly mode?: string;
  /** The model of new sessions. */
  readonly model?: string;
  /** Values of other options, by the option's id, category or name. */
  readonly options?: Readonly<Record<string, string>>;
  /** The edition of the protocol that it speaks; a dialect must be named. Default: "v2" or "v1", as it answers. */
  readonly edition?: NamedEdition;
  /** How long the agent may take to start, in milliseconds. Default 60,000. */
  readonly handshakeTimeoutMs?: number;
}

/** One MCP server of the section `client.mcpServers`, in the form that most tools use. */
export interface McpSection {
  /** Default: "stdio" with a command, "http" with a url. */
  readonly type?: "stdio" | "http" | "sse";
  /** The program, without arguments. Give either `command` or `url`. */
  readonly command?: string;
  /** The arguments of the program. */
  readonly args?: readonly string[];
  /** Variables that are added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The address of a server for "http" or "sse". */
  readonly url?: string;
  /** Headers of every request to the address. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One component of a chain in the section `chains`: a text as on the command line, or an object. */
export type ChainSection =
  | string
  | {
      /** A proxy that comes with Parley. Give either `proxy` or `command`. */
      readonly proxy?: string;
      /** The program, without arguments. */
      readonly command?: string;
      /** The options of the proxy, or the arguments of the program. */
      readonly args?: readonly string[];
      /** Variables that are added to the environment of the program. */
      readonly env?: Readonly<Record<string, string>>;
      /** What happens when the program has gone. Default: "restart". */
      readonly onExit?: "restart" | "bypass" | "fail";
      /** What an error of the proxy means. Default: as the proxy says. */
      readonly errors?: "open" | "closed";
      /** Whether it decides what is allowed: it is never bypassed, and its errors are closed. Default false. */
      readonly policy?: boolean;
    };

/** The sections of the config file that a client uses. */
export interface ClientConfig {
  /** Agents by name. The name of a ready agent changes that agent. */
  readonly agents?: Readonly<Record<string, AgentSection>>;
  /** Chains of proxies by name, each from the client to the agent. */
  readonly chains?: Readonly<Record<string, readonly ChainSection[]>>;
  /** `agent` names the default agent; `mcpServers` are given to every session, by name; `reviewer` is asked first;
   * `sandbox` is the profile that commands run in. */
  readonly client?: {
    readonly agent?: string;
    readonly reviewer?: string;
    readonly sandbox?: CommandProfile;
    readonly mcpServers?: Readonly<Record<string, McpSection>>;
  };
}

/**
 * Returns the ready agents and those of the config by name, for `agents` of `connectAgent()`.
 *
 * @throws {ConfigError} When an agent of the config cannot be used.
 *
 * @example
 * import { connectAgent } from "@parley/client";
 * import { configuredAgents, parseConfig } from "@parley/client/config";
 *
 * const { config } = parseConfig('{ "agents": { "mine": { "command": "my-agent" } } }', "config.json");
 * await using agent = await connectAgent("mine", {
 *   name: "my-app",
 *   version: "1.0.0",
 *   agents: configuredAgents(config),
 * });
 */
export function configuredAgents(config: ClientConfig): Readonly<Record<string, AgentSpec>> {
  return Object.fromEntries(agentEntries(readyAgents({ command: "parley" }), config));
}

/**
 * Returns agents by name: the ready ones first, then those of the config.
 *
 * @throws {ConfigError} When an agent of the config cannot be used.
 *
 * @example
 * import { agentEntries, parseConfig } from "@parley/client/config";
 * import { readyAgents } from "@parley/client/launch";
 *
 * const { config } = parseConfig('{ "agents": { "mine": { "command": "my-agent" } } }', "config.json");
 * console.log([...agentEntries(readyAgents(), config).keys()]);
 */
export function agentEntries(
  ready: readonly CommandEntry[],
  { agents = {} }: ClientConfig,
): ReadonlyMap<string, AgentEntry> {
  const all = new Map<string, AgentEntry>(ready.map((entry) => [entry.name, entry]));
  const wrong: string[] = [];
  for (const [name, section] of Object.entries(agents)) {
    const known = ready.find((entry) => entry.name === name);
    const problem =
      nameProblem(name) ?? sectionProblem(section, known !== undefined) ?? sandboxProblem(section);
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

function sandboxProblem({ url, sandbox, state = [], hosts = [] }: AgentSection): string | undefined {
  if (url !== undefined && (sandbox === true || state.length > 0 || hosts.length > 0))
    return "has a sandbox, state or hosts with a url; only a program of this machine can run in a sandbox";
  if (!state.every((path) => /^~?\//.test(path)))
    return "has a state that is neither an absolute path nor ~/ and a path";
  const wrong = hosts.map(hostProblem).find((problem) => problem !== undefined);
  return wrong === undefined ? undefined : `has hosts that cannot match: ${wrong}`;
}

function hostProblem(pattern: string): string | undefined {
  try {
    return void checkHostPattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

function entryOf(name: string, section: AgentSection, known: CommandEntry | undefined): AgentEntry {
  const { title, edition, handshakeTimeoutMs, url, headers, allowPlainText, transport } = section;
  const { mode, model, options } = section;
  const setup = optional({ mode, model, options });
  const facts = {
    name,
    ...optional({ title, edition, handshakeTimeoutMs }),
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
  { command, args, env, pass, sandbox, state, hosts }: AgentSection,
  facts: Pick<CommandEntry, "name" | "title" | "origin" | "setup" | "edition" | "handshakeTimeoutMs">,
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
    ...(pass === undefined ? {} : { pass: [...(known?.pass ?? []), ...pass] }),
    ...optional({ sandbox, state, hosts }),
  };
}

/**
 * Returns the MCP servers of the config, for `mcpServers` of a session.
 *
 * @throws {ConfigError} When a server has neither a command nor a url, or a type that does not fit.
 *
 * @example
 * import { connectAgent } from "@parley/client";
 * import { configuredMcpServers, parseConfig } from "@parley/client/config";
 *
 * const text = '{ "client": { "mcpServers": { "files": { "command": "mcp-files" } } } }';
 * const mcpServers = configuredMcpServers(parseConfig(text, "config.json").config);
 * await using agent = await connectAgent("gemini", { name: "my-app", version: "1.0.0" });
 * const session = await agent.newSession({ cwd: process.cwd(), mcpServers });
 */
export function configuredMcpServers(config: ClientConfig): readonly McpServer[] {
  return Object.entries(config.client?.mcpServers ?? {}).map(([name, section]) => mcpServer(name, section));
}

/**
 * Returns an MCP server from the form that most tools have in their settings.
 *
 * @throws {ConfigError} When it has neither a command nor a url, or a type that does not fit.
 *
 * @example
 * import { mcpServer } from "@parley/client/config";
 *
 * console.log(mcpServer("files", { command: "mcp-files", args: ["/home/me"] }));
 */
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
