// Changes the config file: validates first, writes all changes or none, keeps comments.

import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "../command/command-error.ts";
import { checkedConfig, configText, parsedConfig } from "./config-file.ts";
import { configPath } from "./data-folder.ts";

/** A path and its value; undefined removes it. */
export type ConfigChange = readonly [path: readonly string[], value: unknown];

/** Returns the path. Throws a CommandError, and writes nothing, if the file is or would become invalid. */
export async function changeConfig(changes: readonly ConfigChange[]): Promise<string> {
  const { setConfigValue } = await import("@parley/client/config");
  const file = configPath();
  const before = await configText(file);
  const known = new Set<string>();
  await parsedConfig(before, (warning) => known.add(warning));
  let text = before;
  for (const [path, value] of changes) text = setConfigValue(text, path, value);
  const unknown: string[] = [];
  await checkedConfig(text, (warning) => unknown.push(warning));
  // an existing unknown name may belong to a newer version; a new one is a mistake
  const mistakes = unknown.filter((warning) => !known.has(warning));
  if (mistakes.length > 0)
    throw new CommandError("config", mistakes.join("\n"), "docs/config.md lists the settings", 2);
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
