// What the coding agent is told by flags, by the environment and by the config file, in this order.

import type { AgentConfig } from "@parley/agent";
import type { Invocation } from "../command/command.ts";
import { CommandError } from "../command/command-error.ts";
import { readConfig } from "../settings/config-file.ts";
import { printable } from "../terminal/printable.ts";

const modes = ["ask", "code", "architect", "chat"] as const;

/** What was typed, set or written cannot be used; the message says what is wanted. */
export class SettingError extends Error {}

/** The section `agent` of the config file; one that is not there says nothing. Warnings go to stderr. */
export async function readAgentConfig(): Promise<AgentConfig> {
  try {
    const { agent } = await readConfig((warning) => process.stderr.write(`parley: ${warning}\n`));
    return agent ?? {};
  } catch (error) {
    if (error instanceof CommandError) throw new SettingError(error.message);
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
