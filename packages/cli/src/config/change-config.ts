// Writes the config file: all changes or none, checked before anything is written, comments kept.

import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { checkedConfig, configText, parsedConfig } from "../config-file.ts";
import { configPath } from "../data-folder.ts";

/** A path and its value; undefined takes it away. */
export type ConfigChange = readonly [path: readonly string[], value: unknown];

/** Where it was written. A file that could not be used afterwards is not written: the command ends with exit code 2. */
export async function changeConfig(changes: readonly ConfigChange[]): Promise<string> {
  const { setConfigValue } = await import("@parley/client/config");
  const file = configPath();
  const before = await configText(file);
  // one that is broken already is not made worse
  await parsedConfig(before, () => undefined);
  let text = before;
  for (const [path, value] of changes) text = setConfigValue(text, path, value);
  await checkedConfig(text, () => undefined);
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
