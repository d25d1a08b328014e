// `parley config show`, `get`, `path` and `check`: prints and validates the config file.

import type { Invocation } from "../command/command.ts";
import { CommandError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { checkedConfig, configText, parsedConfig } from "../settings/config-file.ts";
import { configPath } from "../settings/data-folder.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { configKey, valueAt } from "./config-key.ts";
import { hideSecrets } from "./hide-secrets.ts";

/** Prints everything, or one value. */
export async function run({ positionals, json }: Invocation): Promise<number> {
  const path = positionals.length === 0 ? [] : configKey(positionals[0]);
  const config = await parsedConfig(await configText(), (text) => process.stderr.write(`parley: ${text}\n`));
  // secrets are hidden by position and by value
  const value = await withoutSecrets(hideSecrets(valueAt(config, path), path));
  if (value === undefined) {
    const hint = "parley config show prints all values; docs/config.md lists the settings";
    throw new CommandError("not_set", `${positionals[0] ?? ""} is not set`, hint, 1);
  }
  printAnswer(typeof value === "string" ? value : JSON.stringify(value, null, 2), value, json);
  return 0;
}

export function showPath({ json }: Invocation): number {
  printAnswer(configPath(), { path: configPath() }, json);
  return 0;
}

export async function check({ json }: Invocation): Promise<number> {
  const warnings: string[] = [];
  const text = await configText();
  await checkedConfig(text, (warning) => warnings.push(warning));
  const state = text === "" ? "does not exist (this is fine)" : "valid";
  printAnswer([`${configPath()}: ${state}`, ...warnings].join("\n"), { path: configPath(), warnings }, json);
  return 0;
}
