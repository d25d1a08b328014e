// Locates the files of this installation: a checkout runs src/, an installed package dist/.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Whether this is a checkout. */
const isSource = import.meta.url.endsWith(".ts");

// This file is src/settings/installation.ts in a checkout and part of a chunk in dist/ when installed.
const packageFolder = new URL(isSource ? "../../" : "../", import.meta.url);

function fileOf(path: string): string {
  return fileURLToPath(new URL(path, packageFolder));
}

/** The command `parley`. */
export const launcher = fileOf("bin/parley");

/** The JSON schema that editors check the config file with. */
export const configSchemaFile = fileOf("config.schema.json");

/** The folder of the code that runs. */
export const codeFolder = fileOf(isSource ? "src" : "dist");

/** Arguments for Node that start the command without the launcher. */
export const mainArguments: readonly string[] = isSource
  ? ["--conditions=parley-source", fileOf("src/main.ts")]
  : [fileOf("dist/main.js")];

export function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(fileOf("package.json"), "utf8"));
  return String((manifest as { version?: unknown }).version); // our own file
}
