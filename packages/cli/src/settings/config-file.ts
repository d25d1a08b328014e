// Reads and changes the config file.

import { readFileSync, statSync } from "node:fs";
import { replaceFileSync } from "@parley/acp/node";
import { ModelError } from "@parley/agent";
import { type AgentConfig, agentConfigSchema } from "@parley/agent/config";
import { chosenEndpoint } from "@parley/agent/models";
import {
  agentEntries,
  type ClientConfig,
  ConfigError,
  configuredMcpServers,
  parseConfig,
  setConfigValue,
} from "@parley/client/config";
import { readyAgents } from "@parley/client/launch";
import { CommandError } from "../command/command.ts";
import type { ChatConfig } from "./chat-config.ts";
import { configPath } from "./data-folder.ts";
import { checkOwnServers } from "./own-mcp.ts";

export interface Config extends ClientConfig {
  readonly agent?: AgentConfig;
  readonly chat?: ChatConfig;
}

/** The text of the file; empty if it does not exist. */
export function configText(file = configPath()): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // as: what it throws for a text path
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw configFailure(`cannot read ${file}: ${code ?? "unknown"}`);
  }
}

/** Throws a CommandError with exit code 2 for an invalid file; unknown names go to `warn`. */
export function readConfig(warn: (text: string) => void): Config {
  const text = configText();
  return text === "" ? {} : parsedConfig(text, warn);
}

/** The same for a given text. */
export function parsedConfig(text: string, warn: (text: string) => void): Config {
  return withConfigErrors(() => {
    const { config, warnings } = parseConfig(text, configPath(), agentConfigSchema);
    for (const warning of warnings) warn(warning);
    return config;
  });
}

/** Also checks that the model has a provider, and that agents and MCP servers have what is needed to reach them. */
export function checkedConfig(text: string, warn: (text: string) => void): Config {
  const config = parsedConfig(text, warn);
  withConfigErrors(() => {
    configuredMcpServers(config);
    agentEntries(readyAgents({ command: "" }), config);
    checkOwnServers(config.agent ?? {});
  });
  checkModel(config);
  return config;
}

function checkModel({ agent }: Config): void {
  if (agent?.model === undefined) return;
  try {
    // the environment may have the address of a cloud, but must not choose another model
    chosenEndpoint(agent, { ...process.env, PARLEY_MODEL: undefined });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw configFailure(`${configPath()}: agent.model: ${error.message}`);
  }
}

/** Turns a ConfigError into a CommandError with exit code 2. */
export function withConfigErrors<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ConfigError) throw configFailure(error.message);
    throw error;
  }
}

function configFailure(message: string): CommandError {
  return new CommandError(
    "config",
    message,
    "fix it with parley config edit; docs/config.md lists the settings",
    2,
  );
}

const unchanged = "nothing was changed; docs/config.md lists the settings";

/** A path and its value; undefined removes it. */
export type ConfigChange = readonly [path: readonly string[], value: unknown];

/** Returns the path. Throws a CommandError, and writes nothing, if the file is or would become invalid, also for `check`. */
export function changeConfig(changes: readonly ConfigChange[], check?: (config: Config) => void): string {
  const file = configPath();
  const before = configText(file);
  const known = new Set<string>();
  parsedConfig(before, (warning) => known.add(warning));
  let text = before;
  for (const [path, value] of changes) text = setConfigValue(text, path, value);
  const unknown: string[] = [];
  try {
    const config = checkedConfig(text, (warning) => unknown.push(warning));
    check?.(config);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.code, error.message, unchanged, error.exitCode);
  }
  // an existing unknown name may belong to a newer version; a new one is a mistake
  const mistakes = unknown.filter((warning) => !known.has(warning));
  if (mistakes.length > 0) throw new CommandError("config", mistakes.join("\n"), unchanged, 2);
  // it may contain keys
  const mode = (statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
  replaceFileSync(file, text, { mode });
  return file;
}
