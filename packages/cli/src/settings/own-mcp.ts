// The MCP servers that the user gave the coding agent: `agent.mcpServers` of the config file.

import { originKey } from "@parley/acp/extensions";
import { optional } from "@parley/acp/jsonrpc";
import type { McpServer } from "@parley/acp/model";
import type { AgentConfig, McpServerConfig } from "@parley/agent/config";
import { ConfigError, mcpServer } from "@parley/client/config";

type Environment = Readonly<Record<string, string | undefined>>;

export interface OwnServers {
  readonly servers: readonly McpServer[];
  /** Why servers cannot be started, a sentence each. */
  readonly problems: readonly string[];
}

/** Those that are not disabled, with the variables of the environment in place of `${NAME}`. */
export function ownServers({ mcpServers = {} }: AgentConfig, env: Environment): OwnServers {
  const servers: McpServer[] = [];
  const problems: string[] = [];
  for (const [name, config] of Object.entries(mcpServers)) {
    if (config.disabled === true) continue;
    try {
      servers.push(serverOf(name, expanded(name, config, env)));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(`The MCP server ${name} is not started: ${error.message}.`);
    }
  }
  return { servers, problems };
}

/** Throws a ConfigError for an entry that cannot be used with any environment. */
export function checkOwnServers({ mcpServers = {} }: AgentConfig): void {
  for (const [name, config] of Object.entries(mcpServers)) serverOf(name, config);
}

function serverOf(name: string, config: McpServerConfig): McpServer {
  const { type, command, args, env, url, headers, cwd, timeout, tools, oauth } = config;
  const section = optional({ type, command, args, env, url, headers });
  if (oauth !== undefined && url === undefined) throw new ConfigError(`${name} has oauth without a url`);
  const extra = optional({ cwd, timeout, tools, oauth });
  return { ...mcpServer(name, section), _meta: { [originKey]: "user", ...extra } } as McpServer; // with its extensions
}

const reference = /\$\{(\w+)(?::-([^}]*))?\}/g;

/** The variables of the environment that the entries name. */
export function namedVariables(mcpServers: NonNullable<AgentConfig["mcpServers"]>): readonly string[] {
  return Array.from(JSON.stringify(mcpServers).matchAll(reference), ([, name = ""]) => name);
}

/** Throws a ConfigError for a variable that is not set. */
function expanded(name: string, config: McpServerConfig, env: Environment): McpServerConfig {
  const missing = new Set<string>();
  const text = (given: string): string =>
    given.replaceAll(reference, (_, variable: string, preset: string | undefined) => {
      const value = env[variable];
      if (value !== undefined && value !== "") return value;
      if (preset === undefined) missing.add(variable);
      return preset ?? "";
    });
  const each = (given: unknown): unknown => {
    if (typeof given === "string") return text(given);
    if (Array.isArray(given)) return given.map(each);
    if (typeof given !== "object" || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, each(value)]));
  };
  const whole = each(config) as McpServerConfig; // strings stay strings, the rest keeps its shape
  if (missing.size === 0) return whole;
  const names = [...missing].join(", ");
  throw new ConfigError(
    `the environment of the agent has no ${names}, which agent.mcpServers.${name} uses; set it where the agent is started, or write \${NAME:-value}`,
  );
}
