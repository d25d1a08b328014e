// `parley config set` and `unset`: changes one value of the config file.

import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { changeConfig } from "../settings/change-config.ts";
import { configText, parsedConfig } from "../settings/config-file.ts";
import { configPath } from "../settings/data-folder.ts";
import { configKey, valueAt } from "./config-key.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  const [key, value, extra] = positionals;
  if (value === undefined || extra !== undefined) {
    throw usageError(
      "config set: expected a name and a value",
      "for example: parley config set agent.mode code",
    );
  }
  const path = configKey(key);
  const file = await changeConfig([[path, typed(value)]]);
  printAnswer(`Set ${key} in ${file}.`, { key, file }, json);
  return 0;
}

export async function unset({ positionals, json }: Invocation): Promise<number> {
  const [key] = positionals;
  const path = configKey(key);
  const before = await parsedConfig(await configText(), () => undefined);
  const removed = valueAt(before, path) !== undefined;
  const file = removed ? await changeConfig([[path, undefined]]) : configPath();
  const text = removed ? `Removed ${key} from ${file}.` : `${key} was not set in ${file}; nothing changed.`;
  printAnswer(text, { key, file, removed }, json);
  return 0;
}

function typed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
