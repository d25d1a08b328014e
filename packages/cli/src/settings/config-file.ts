// Reads and changes the config file.

import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { ObjectShape } from "@parley/acp/internal";
import type { AgentConfig } from "@parley/agent/internal";
import type { ClientConfig } from "@parley/client/config";
import { CommandError } from "../command/command.ts";
import { configPath } from "./data-folder.ts";

export interface Config extends ClientConfig {
  readonly agent?: AgentConfig;
}

/** The shape of the whole file. */
export async function wholeShape(): Promise<ObjectShape> {
  const [{ configShape }, { agentConfigShape }] = await Promise.all([
    import("@parley/client/internal"),
    import("@parley/agent/internal"),
  ]);
  return configShape(agentConfigShape);
}

/** The text of the file; empty if it does not exist. */
export async function configText(file = configPath()): Promise<string> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return "";
    throw configFailure(`cannot read ${file}: ${error.code ?? "unknown"}`);
  });
}

/** Throws a CommandError with exit code 2 for an invalid file; unknown names go to `warn`. */
export async function readConfig(warn: (text: string) => void): Promise<Config> {
  const text = await configText();
  return text === "" ? {} : parsedConfig(text, warn);
}

/** The same for a given text. */
export async function parsedConfig(text: string, warn: (text: string) => void): Promise<Config> {
  const [{ checkConfig }, shape] = await Promise.all([import("@parley/client/internal"), wholeShape()]);
  return withConfigErrors(() => {
    const { config, warnings } = checkConfig(text, configPath(), shape);
    for (const warning of warnings) warn(warning);
    return config;
  });
}

/** Also checks that the model has a provider, and that agents and MCP servers have what is needed to reach them. */
export async function checkedConfig(text: string, warn: (text: string) => void): Promise<Config> {
  const config = await parsedConfig(text, warn);
  const [{ configuredMcpServers }, { agentEntries, readyAgents }] = await Promise.all([
    import("@parley/client/config"),
    import("@parley/client/internal"),
  ]);
  await withConfigErrors(() => {
    configuredMcpServers(config);
    agentEntries(readyAgents({ command: "" }), config);
  });
  await checkModel(config);
  return config;
}

async function checkModel({ agent }: Config): Promise<void> {
  if (agent?.model === undefined) return;
  const [{ ModelError }, { chosenEndpoint }] = await Promise.all([
    import("@parley/agent"),
    import("@parley/agent/internal"),
  ]);
  try {
    // without the environment, which may choose another model
    chosenEndpoint(agent, {});
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw configFailure(`${configPath()}: agent.model: ${error.message}`);
  }
}

/** Turns a ConfigError into a CommandError with exit code 2. */
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
    "fix it with parley config edit; docs/config.md lists the settings",
    2,
  );
}

const unchanged = "nothing was changed; docs/config.md lists the settings";

/** A path and its value; undefined removes it. */
export type ConfigChange = readonly [path: readonly string[], value: unknown];

/** Returns the path. Throws a CommandError, and writes nothing, if the file is or would become invalid. */
export async function changeConfig(changes: readonly ConfigChange[]): Promise<string> {
  const { setConfigValue } = await import("@parley/client/internal");
  const file = configPath();
  const before = await configText(file);
  const known = new Set<string>();
  await parsedConfig(before, (warning) => known.add(warning));
  let text = before;
  for (const [path, value] of changes) text = setConfigValue(text, path, value);
  const unknown: string[] = [];
  await checkedConfig(text, (warning) => unknown.push(warning)).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.code, error.message, unchanged, error.exitCode);
  });
  // an existing unknown name may belong to a newer version; a new one is a mistake
  const mistakes = unknown.filter((warning) => !known.has(warning));
  if (mistakes.length > 0) throw new CommandError("config", mistakes.join("\n"), unchanged, 2);
  await mkdir(dirname(file), { recursive: true });
  const mode = await stat(file).then(
    (facts) => facts.mode & 0o777,
    () => 0o600, // it may contain keys
  );
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, text, { mode });
  await rename(temporary, file);
  return file;
}
