// Writes the config file: all changes or none, checked before anything is written, comments kept.

import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "../command/command-error.ts";
import { checkedConfig, configText, parsedConfig } from "./config-file.ts";
import { configPath } from "./data-folder.ts";

/** A path and its value; undefined takes it away. */
export type ConfigChange = readonly [path: readonly string[], value: unknown];

/** Where it was written. A file that says what nobody understands, or that could not be used afterwards is not written: the command ends with exit code 2. */
export async function changeConfig(changes: readonly ConfigChange[]): Promise<string> {
  const { setConfigValue } = await import("@parley/client/config");
  const file = configPath();
  const before = await configText(file);
  // one that is broken already is not made worse
  const known = new Set<string>();
  await parsedConfig(before, (warning) => known.add(warning));
  let text = before;
  for (const [path, value] of changes) text = setConfigValue(text, path, value);
  const unknown: string[] = [];
  await checkedConfig(text, (warning) => unknown.push(warning));
  // a name that was there before may be that of a newer version; one that is typed now is a slip
  const slips = unknown.filter((warning) => !known.has(warning));
  if (slips.length > 0)
    throw new CommandError("config", slips.join("\n"), "docs/config.md has the settings", 2);
  await mkdir(dirname(file), { recursive: true });
  const mode = await stat(file).then(
    (facts) => facts.mode & 0o777,
    () => 0o600, // it may hold keys
  );
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, text, { mode });
  await rename(temporary, file);
  return file;
}
