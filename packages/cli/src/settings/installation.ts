// Locates the files of this installation: a checkout runs src/, an installed package dist/.

import { readFileSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { shellLine } from "../command/shell-words.ts";
import { escapedLine } from "../terminal/sanitise.ts";

const isSource = import.meta.url.endsWith(".ts");

// This file is src/settings/installation.ts in a checkout and part of a chunk in dist/ when installed.
const packageFolder = new URL(isSource ? "../../" : "../", import.meta.url);

function fileOf(path: string): string {
  return fileURLToPath(new URL(path, packageFolder));
}

/** What the command needs of its own: the checkout with its Node, or the packages beside it. */
export function installationFolder(): string {
  if (isSource) return fileOf("../../");
  const folder = fileOf("");
  const [packages] = /^.*[\\/]node_modules[\\/]/.exec(folder) ?? [];
  return packages ?? folder;
}

/** The command `parley`. */
export const launcher = fileOf("bin/parley");

/** The command to type in the user's shell: `parley` if PATH has it, otherwise the path of the launcher. */
export function commandToType(): string {
  const own = realpathSync(launcher);
  // npm adds node_modules/.bin only for its scripts
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.endsWith("/.bin"));
  const found = folders.map((each) => realPath(join(each, "parley"))).find((each) => each !== undefined);
  if (found === own) return "parley";
  return /^[\w./@+-]+$/.test(own) ? own : `'${own.replaceAll("'", "'\\''")}'`;
}

/** Tells how to go on, with these words after `parley`. */
export function howToContinue(words: readonly string[], rest = ""): string {
  return `continue with: ${commandToType()} ${escapedLine(shellLine(words))}${rest}`;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The JSON schema that editors check the config file with. */
export const configSchemaFile = fileOf("config.schema.json");

export function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(fileOf("package.json"), "utf8"));
  return String((manifest as { version?: unknown }).version); // our own file
}
