// Finds the agent for a command: a built-in one, one of the config file, or a typed command.

import { dirname } from "node:path";
import { nearestWord } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";
import type { McpServer } from "@parley/acp/model";
import { keyVariables } from "@parley/agent/models";
import type { RemoteSpec } from "@parley/client";
import { agentEntries, configuredMcpServers } from "@parley/client/config";
import {
  type AgentEntry,
  agentEntry,
  type CommandEntry,
  commandEntry,
  readyAgents,
} from "@parley/client/launch";
import type { NamedEdition } from "@parley/dialects";
import { type CommandError, usageError } from "../command/command.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { agentCredentials } from "./agent-credentials.ts";
import { type Config, readConfig, withConfigErrors } from "./config-file.ts";
import { configPath, dataFolder, permissionsPath, stateFolder, trustFolder } from "./data-folder.ts";
import { installationFolder, launcher } from "./installation.ts";
import { namedVariables } from "./own-mcp.ts";
import { plainPostWords } from "./remote-address.ts";
import type { SandboxChoice } from "./sandbox-choice.ts";

/** The settings of all agents. */
export interface AgentSettings {
  readonly config: Config;
  readonly agents: ReadonlyMap<string, AgentEntry>;
  /** The name of the default agent. */
  readonly preferred: string;
}

export function readAgents(warn: (text: string) => void = warnOnStderr): AgentSettings {
  const config = readConfig(warn);
  const ready = readyAgents({ command: launcher, pass: ownVariables(config), needs: ownNeeds() });
  const preferred = config.client?.agent ?? "parley";
  return { config, preferred, agents: configured(ready, config) };
}

/** The names that `--agent` takes. Without those of the config file if it is invalid, which its readers report. */
export function knownAgentNames(): readonly string[] {
  try {
    return [...readAgents(() => undefined).agents.keys()];
  } catch {
    return readyAgents({ command: launcher }).map(({ name }) => name);
  }
}

function configured(ready: readonly CommandEntry[], config: Config): AgentSettings["agents"] {
  const entries = withConfigErrors(() => agentEntries(ready, config));
  return new Map([...entries].map(([name, entry]) => [name, speaking(entry, entry.edition)]));
}

/** Variables with the keys of our own agent's providers, and those that its config names. */
function ownVariables({ agent }: Config): readonly string[] {
  const keys = Object.values(agent?.providers ?? {}).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  return [...keyVariables, ...keys, ...namedVariables(agent?.mcpServers ?? {})];
}

/** In a sandbox. Our settings hold rules, which an agent must not change. */
function ownNeeds(): NonNullable<CommandEntry["needs"]> {
  return {
    state: [dataFolder(), stateFolder()],
    // an installation in /tmp would be hidden, because /tmp is another folder inside
    read: [
      dirname(configPath()),
      ...[installationFolder()].filter((path) => /^\/(?:var\/)?tmp\//.test(path)),
    ],
    readOnly: [permissionsPath(), trustFolder()],
  };
}

/** Whether it is the agent of this installation. */
export function isOwnAgent({ command, args }: Pick<CommandEntry, "command" | "args">): boolean {
  return command === launcher && args[0] === "agent";
}

/** The entry with the edition that the agent speaks. Our own agent is told which one. */
function speaking(entry: AgentEntry, edition: NamedEdition | undefined): AgentEntry {
  if (edition === undefined) return entry;
  if (entry.transport !== "stdio" || !isOwnAgent(entry)) return { ...entry, edition };
  // the last one counts
  return { ...entry, edition, args: [...entry.args, "--edition", edition] };
}

/** One agent, with what its sessions are given. */
export interface ChosenAgent {
  readonly entry: AgentEntry;
  /** Stored login variables, added to its environment. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly mcpServers: readonly McpServer[];
  /** The command that answers permission questions before the user. */
  readonly reviewer?: string | undefined;
  /** The sandbox of commands. */
  readonly sandbox?: SandboxChoice | undefined;
}

/**
 * The agent of that name, the command in `argv`, or the one at `address`. `edition` is what it speaks, whatever its entry
 * says. Throws a CommandError for unknown names.
 */
export function chooseAgent(
  name: string | undefined,
  argv: readonly string[],
  edition?: NamedEdition,
  address?: RemoteSpec,
  warn?: (text: string) => void,
): ChosenAgent {
  const { config, agents, preferred } = readAgents(warn);
  const mcpServers = sharedServers(config);
  const { reviewer, sandbox } = config.client ?? {};
  const shared = { mcpServers, reviewer, sandbox };
  if (address !== undefined) {
    if (address.plainPost) (warn ?? warnOnStderr)(plainPostWords);
    return { entry: addressed({ ...address, ...optional({ edition }) }), credentials: {}, ...shared };
  }
  if (argv.length > 0) {
    return { entry: { ...commandEntry(argv), ...optional({ edition }) }, credentials: {}, ...shared };
  }
  const found = agents.get(name ?? preferred);
  if (found !== undefined) {
    return { entry: speaking(found, edition), credentials: agentCredentials(found.name), ...shared };
  }
  throw unknownAgent(name ?? preferred, [...agents.keys()]);
}

export function unknownAgent(name: string, known: readonly string[]): CommandError {
  const near = nearestWord(name, known);
  return usageError(
    `unknown agent ${escapedLine(name)}${near === undefined ? `; known agents: ${known.join(", ")}` : ""}`,
    near === undefined
      ? "put its command after --, or add it with parley agents add"
      : `did you mean ${near}? parley agents lists all agents`,
  );
}

function sharedServers(config: Config): readonly McpServer[] {
  return withConfigErrors(() => configuredMcpServers(config));
}

function warnOnStderr(text: string): void {
  process.stderr.write(`parley: ${text}\n`);
}

/** Throws a CommandError for what cannot be had together. */
export function addressed(spec: RemoteSpec): AgentEntry {
  if (spec.plainPost && spec.edition === "v2")
    throw usageError(
      "--plain-post cannot carry v2, whose turns go on after the answer to their prompt",
      "use --edition v1 or a dialect, or omit --plain-post",
    );
  return agentEntry(spec);
}
