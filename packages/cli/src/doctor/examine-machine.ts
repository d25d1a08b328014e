// Checks Node, the folders, the config file and the model of our own agent.

import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { CommandError } from "../command/command-error.ts";
import { type Config, checkedConfig, configText } from "../settings/config-file.ts";
import { configPath, credentialsPath, dataFolder, stateFolder } from "../settings/data-folder.ts";
import type { Finding } from "./finding.ts";

export function examineNode(): Finding {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isNew = major > 22 || (major === 22 && minor >= 18);
  const detail = `${node}, ${process.execPath}`;
  return isNew
    ? { what: "node", state: "ok", detail }
    : { what: "node", state: "broken", detail, todo: "install Node 22.18 or newer" };
}

/** Folders are created on demand, so an existing parent must be writable. */
export function examineFolders(): readonly Finding[] {
  const folders = { data: dataFolder(), state: stateFolder(), config: dirname(configPath()) };
  return Object.entries(folders).map(([name, folder]) => {
    const nearest = existing(folder);
    const what = `${name} folder`;
    try {
      accessSync(nearest, constants.W_OK);
      return { what, state: "ok", detail: nearest === folder ? folder : `${folder}, created on demand` };
    } catch {
      return {
        what,
        state: "broken",
        detail: `${nearest} is not writable`,
        todo: "make it writable, or set PARLEY_HOME to another folder",
      };
    }
  });
}

function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}

export async function examineConfig(): Promise<{ readonly finding: Finding; readonly config: Config }> {
  const what = "config";
  const file = configPath();
  const warnings: string[] = [];
  try {
    const text = await configText(file);
    const config = await checkedConfig(text, (warning) => warnings.push(warning));
    const [first] = warnings;
    if (first === undefined) {
      return {
        config,
        finding: { what, state: "ok", detail: text === "" ? `${file}, does not exist` : file },
      };
    }
    const detail = warnings.join("; ");
    return {
      config,
      finding: { what, state: "warning", detail, todo: "fix the names: parley config edit" },
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return {
      config: {},
      finding: { what, state: "broken", detail: error.message, todo: "parley config edit" },
    };
  }
}

/** The model that our own agent would use, and whether it has a key. */
export async function examineModel({ agent = {} }: Config): Promise<Finding> {
  const { credentialsFile, ModelError, openAccount } = await import("@parley/agent");
  const what = "model";
  try {
    const credentials = credentialsFile(credentialsPath());
    const { models, login } = openAccount({ config: agent, env: process.env, credentials });
    const { chosen } = models();
    if (chosen === "offline") {
      const todo = "for a real model: parley agent login anthropic, or see docs/models.md";
      return { what, state: "missing", detail: "offline: no provider has a key", todo };
    }
    const isIn = login.isLoggedIn === undefined || (await login.isLoggedIn());
    return isIn
      ? { what, state: "ok", detail: chosen }
      : { what, state: "broken", detail: `${chosen} has no key`, todo: "parley agent login" };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { what, state: "broken", detail: error.message, todo: "fix it: parley config edit" };
  }
}
