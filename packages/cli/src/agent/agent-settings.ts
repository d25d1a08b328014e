// Reads the settings of the coding agent: options override the environment, which overrides the config file.

import { ModelError } from "@parley/agent";
import type { AgentConfig } from "@parley/agent/config";
import { builtInRegistry, mergedRegistry, type Registry, storedRegistry } from "@parley/agent/models";
import { CommandError, type Invocation, usageError } from "../command/command.ts";
import { readConfig } from "../settings/config-file.ts";
import { registryPath } from "../settings/data-folder.ts";
import { escapedLine } from "../terminal/sanitise.ts";

const modes = ["ask", "code", "architect", "chat"] as const;

/** The section `agent` of the config file. Warnings go to stderr. */
export function readAgentConfig(): AgentConfig {
  const { agent } = readConfig((warning) => process.stderr.write(`parley: ${warning}\n`));
  return agent ?? {};
}

/** What is known of models: built in, and newer if it was refreshed. */
export function knownModels(): Registry {
  return mergedRegistry(builtInRegistry, storedRegistry(registryPath()));
}

export function withMode(config: AgentConfig, values: Invocation["values"]): AgentConfig {
  const { PARLEY_MODE: set } = process.env;
  const [name, given] =
    typeof values["mode"] === "string" ? ["--mode", values["mode"]] : ["PARLEY_MODE", set?.trim()];
  if (given === undefined || given === "") return config;
  const mode = modes.find((each) => each === given);
  if (mode !== undefined) return { ...config, mode };
  throw usageError(
    `${name}: expected one of ${modes.join(", ")}, got ${escapedLine(given)}`,
    "see parley help agent",
  );
}

/** Throws a CommandError with exit code 2 for a model or provider that cannot be used. */
export function withModelErrors<Result>(command: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ModelError) throw agentError(command, error.message);
    throw error;
  }
}

export function agentError(command: string, message: string): CommandError {
  return new CommandError(command.split(" ").at(-1) ?? command, message, `see parley help ${command}`, 2);
}
