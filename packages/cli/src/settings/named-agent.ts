// Which agent a command is about: one that is known, one of the config, or a command that was typed.

import type { McpServer } from "@parley/acp";
import type { CommandEntry, SessionSetup } from "@parley/client";
import type { ConfiguredAgent } from "@parley/client/config";
import { usageError } from "../command/command-error.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { agentCredentials } from "./agent-credentials.ts";
import { type Config, readConfig, withConfigErrors } from "./config-file.ts";
import { launcher } from "./installation.ts";

/** What the config says of the agents and of the client. */
export interface AgentSettings {
  readonly config: Config;
  readonly agents: ReadonlyMap<string, ConfiguredAgent>;
  /** The name of the one that is used when none is named. */
  readonly preferred: string;
}

export async function readAgents(warn: (text: string) => void = complain): Promise<AgentSettings> {
  const [{ readyAgents }, config] = await Promise.all([import("@parley/client"), readConfig(warn)]);
  const ready = readyAgents({ command: launcher, passes: ownVariables(config) });
  const preferred = config.client?.agent ?? "parley";
  return { config, preferred, agents: await configured(ready, config) };
}

async function configured(ready: readonly CommandEntry[], config: Config): Promise<AgentSettings["agents"]> {
  // most have no config, and need not pay for reading one
  if (config.agents === undefined) return new Map(ready.map((entry) => [entry.name, { entry, setup: {} }]));
  const { configuredAgents } = await import("@parley/client/config");
  return withConfigErrors(() => configuredAgents(ready, config));
}

/** Keys of our own agent's providers may be in variables of any name. */
function ownVariables({ agent }: Config): readonly string[] {
  return Object.values(agent?.providers ?? {}).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
}

/** Whether it is the agent of this installation, as we start it. */
export function isOwnAgent({ command, args }: Pick<CommandEntry, "command" | "args">): boolean {
  return command === launcher && args[0] === "agent";
}

/** One agent, with how its sessions begin and the MCP servers that all are given. */
export interface ChosenAgent extends ConfiguredAgent {
  /** What was given to log in to it: added to its environment. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly mcpServers: readonly McpServer[];
}

/** The agent of that name; `argv` is what follows `--` and counts for more. Throws a CommandError for unknown names. */
export async function chooseAgent(name: string | undefined, argv: readonly string[]): Promise<ChosenAgent> {
  const { config, agents, preferred } = await readAgents();
  const mcpServers = await sharedServers(config);
  if (argv.length > 0) {
    const { commandEntry } = await import("@parley/client");
    const setup: SessionSetup = {};
    return { entry: commandEntry(argv), setup, mcpServers, credentials: {} };
  }
  const found = agents.get(name ?? preferred);
  if (found !== undefined) {
    return { ...found, mcpServers, credentials: agentCredentials(found.entry.name) };
  }
  const known = [...agents.keys()].join(", ");
  throw usageError(
    `there is no agent ${escapedLine(name ?? preferred)}; there are ${known}`,
    "give its command after --, or keep it with parley agents add",
  );
}

async function sharedServers(config: Config): Promise<readonly McpServer[]> {
  if (config.client?.mcpServers === undefined) return [];
  const { configuredMcpServers } = await import("@parley/client/config");
  return withConfigErrors(() => configuredMcpServers(config));
}

function complain(text: string): void {
  process.stderr.write(`parley: ${text}\n`);
}
