// What this installation is made of. Its files are one folder up from src/ and from dist/ alike, and that is why this file
// is in none of the folders of src/.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The command `parley`. */
export const launcher = fileURLToPath(new URL("../bin/parley", import.meta.url));

/** What editors check the config file by. */
export const configSchemaFile = fileURLToPath(new URL("../config.schema.json", import.meta.url));

export async function ownVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  return String((manifest as { version?: unknown }).version); // our own file
}
