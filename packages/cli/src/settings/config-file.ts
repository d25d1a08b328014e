// The config file as commands read it: all sections, checked.

import { readFile } from "node:fs/promises";
import type { AgentConfig } from "@parley/agent";
import type { ClientConfig, ObjectShape } from "@parley/client/config";
import { CommandError } from "../command/command-error.ts";
import { configPath } from "./data-folder.ts";

export interface Config extends ClientConfig {
  readonly agent?: AgentConfig;
}

/** What the file may say. */
export async function wholeShape(): Promise<ObjectShape> {
  const [{ configShape }, { agentConfigShape }] = await Promise.all([
    import("@parley/client/config"),
    import("@parley/agent"),
  ]);
  return configShape(agentConfigShape);
}

/** The text of the file; a file that is not there says nothing. */
export async function configText(file = configPath()): Promise<string> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return "";
    throw configFailure(`${file} cannot be read: ${error.code ?? "unknown"}`);
  });
}

/** What the file says. A mistake ends the command with exit code 2; names that are not known go to `warn`. */
export async function readConfig(warn: (text: string) => void): Promise<Config> {
  const text = await configText();
  return text === "" ? {} : parsedConfig(text, warn);
}

/** The same for a text that is at hand. */
export async function parsedConfig(text: string, warn: (text: string) => void): Promise<Config> {
  const [{ parseConfig }, shape] = await Promise.all([import("@parley/client/config"), wholeShape()]);
  return withConfigErrors(() => {
    const { config, warnings } = parseConfig(text, configPath(), shape);
    for (const warning of warnings) warn(warning);
    return config;
  });
}

/** The same; also what no shape can say is checked: that agents and MCP servers can be reached by what is said of them. */
export async function checkedConfig(text: string, warn: (text: string) => void): Promise<Config> {
  const config = await parsedConfig(text, warn);
  const [{ configuredAgents, configuredMcpServers }, { readyAgents }] = await Promise.all([
    import("@parley/client/config"),
    import("@parley/client"),
  ]);
  await withConfigErrors(() => {
    configuredMcpServers(config);
    configuredAgents(readyAgents({ command: "" }), config);
  });
  return config;
}

/** What is wrong with the config ends the command with exit code 2. */
export async function withConfigErrors<Result>(work: () => Result): Promise<Result> {
  const { ConfigError } = await import("@parley/client/config");
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
    "correct it with parley config edit; docs/config.md has the settings",
    2,
  );
}
