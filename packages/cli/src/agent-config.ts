// What the coding agent is told by flags, by the environment and by the config file, in this order.

import { readFile } from "node:fs/promises";
import type { AgentConfig } from "@parley/agent";
import type { Invocation } from "./command.ts";
import { configPath } from "./data-folder.ts";
import { printable } from "./wire-printer.ts";

const modes = ["ask", "code", "architect", "chat"] as const;

/** What was typed, set or written cannot be used; the message says what is wanted. */
export class SettingError extends Error {}

/** The section `agent` of the config file; one that is not there says nothing. Warnings go to stderr. */
export async function readAgentConfig(): Promise<AgentConfig> {
  const file = configPath();
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return "";
    throw new SettingError(`${file} cannot be read: ${error.code ?? "unknown"}`);
  });
  if (text === "") return {};
  const { ConfigError, parseConfig } = await import("@parley/agent");
  try {
    const { config, warnings } = parseConfig(text, file);
    for (const warning of warnings) process.stderr.write(`parley: ${warning}\n`);
    return config.agent ?? {};
  } catch (error) {
    if (error instanceof ConfigError) throw new SettingError(error.message);
    throw error;
  }
}

/** Flags before the environment before the file. */
export function withFlags(config: AgentConfig, values: Invocation["values"]): AgentConfig {
  const { PARLEY_MODE: set } = process.env;
  const [name, given] =
    typeof values["mode"] === "string" ? ["--mode", values["mode"]] : ["PARLEY_MODE", set?.trim()];
  if (given === undefined || given === "") return config;
  const mode = modes.find((each) => each === given);
  if (mode === undefined) {
    throw new SettingError(`${name} takes one of ${modes.join(", ")}, got ${printable(given)}`);
  }
  return { ...config, mode };
}
