// `parley config edit`: opens the config file in the user's editor and validates it afterwards.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { Invocation } from "../command/command.ts";
import { CommandError } from "../command/command-error.ts";
import { configPath } from "../settings/data-folder.ts";
import { configSchemaFile } from "../settings/installation.ts";
import { check } from "./config-show.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { VISUAL: visual, EDITOR: editor } = process.env;
  const [command, ...args] = (visual || editor || "").split(/\s+/).filter((word) => word !== "");
  if (command === undefined) {
    const hint = `set EDITOR, or edit ${configPath()} yourself and run parley config check`;
    throw new CommandError("no_editor", "neither VISUAL nor EDITOR is set", hint, 2);
  }
  const file = configPath();
  if (!existsSync(file)) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, emptyConfig(), { mode: 0o600 });
  }
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(command, [...args, file], { stdio: "inherit" });
    child.once("error", reject);
    child.once("exit", (exitCode) => resolve(exitCode ?? 1));
  }).catch((error: unknown) => {
    throw new CommandError(
      "no_editor",
      `cannot start ${command}: ${(error as Error).message}`,
      "set EDITOR",
      1,
    );
  });
  return code === 0 ? check(invocation) : code;
}

/** With the schema that editors complete and validate by. */
function emptyConfig(): string {
  return `{\n  "$schema": "${pathToFileURL(configSchemaFile).href}"\n}\n`;
}
