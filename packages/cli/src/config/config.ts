// `parley config`: prints, validates and changes the config file.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { redactor } from "@parley/acp/redact";
import { CommandError, type Invocation, printAnswer, usageError } from "../command/command.ts";
import { changeConfig, checkedConfig, configText, parsedConfig } from "../settings/config-file.ts";
import { configPath } from "../settings/data-folder.ts";
import { configSchemaFile } from "../settings/installation.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { escapedLine } from "../terminal/sanitise.ts";

/** Prints everything, or one value. */
export async function show({ positionals, json }: Invocation): Promise<number> {
  const path = positionals.length === 0 ? [] : configKey(positionals[0]);
  const text = configText();
  if (text === "" && !json)
    process.stderr.write(`parley: ${configPath()} does not exist yet; parley config set creates it\n`);
  const config = parsedConfig(text, (warning) => process.stderr.write(`parley: ${warning}\n`));
  // secrets are hidden by position and by value
  const value = withoutSecrets(hideSecrets(valueAt(config, path), path));
  if (value === undefined) {
    const hint = "parley config show prints all values; docs/config.md lists the settings";
    throw new CommandError("not_set", `${positionals[0] ?? ""} is not set`, hint, 1);
  }
  return printAnswer(typeof value === "string" ? value : JSON.stringify(value, null, 2), value, json);
}

export function showPath({ json }: Invocation): number {
  return printAnswer(configPath(), { path: configPath() }, json);
}

export async function check({ json }: Invocation): Promise<number> {
  const warnings: string[] = [];
  const text = configText();
  const config = checkedConfig(text, (warning) => warnings.push(warning));
  if (config.chains !== undefined) (await chainCheck())(config);
  const state = text === "" ? "does not exist (this is fine)" : "valid";
  return printAnswer(
    [`${configPath()}: ${state}`, ...warnings].join("\n"),
    { path: configPath(), warnings },
    json,
  );
}

export async function set({ positionals, json }: Invocation): Promise<number> {
  const [key, value, extra] = positionals;
  if (value === undefined || extra !== undefined) {
    throw usageError(
      "config set: expected a name and a value",
      "for example: parley config set agent.mode code",
    );
  }
  const path = configKey(key);
  const file = changeConfig(
    [[path, parsedValue(value)]],
    path[0] === "chains" ? await chainCheck() : undefined,
  );
  return printAnswer(`Set ${key} in ${file}.`, { key, file }, json);
}

export async function unset({ positionals, json }: Invocation): Promise<number> {
  const [key] = positionals;
  const path = configKey(key);
  const before = parsedConfig(configText(), () => undefined);
  const removed = valueAt(before, path) !== undefined;
  const file = removed ? changeConfig([[path, undefined]]) : configPath();
  const text = removed ? `Removed ${key} from ${file}.` : `${key} was not set in ${file}; nothing changed.`;
  return printAnswer(text, { key, file, removed }, json);
}

/** Only chains need the proxies. */
async function chainCheck() {
  return (await import("../proxy/components.ts")).checkChains;
}

function parsedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export async function edit(invocation: Invocation): Promise<number> {
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

const part = /(?:"((?:[^"\\]|\\.)*)"|([^."]+))(?:\.(?=.)|$)/y;

export function configKey(given: string | undefined): readonly string[] {
  const names: string[] = [];
  const text = given ?? "";
  part.lastIndex = 0;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) break;
    names.push(match[2] ?? (JSON.parse(`"${match[1] ?? ""}"`) as string)); // the pattern let nothing else through
    if (part.lastIndex === text.length) return names;
  }
  throw usageError(
    text === "" ? "expected the name of a value" : `${escapedLine(text)} is not the name of a value`,
    'join names with dots, as in agent.mode; quote names that contain dots: agents."a.b".command',
  );
}

export function valueAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined,
    config,
  );
}

const hidden = "(hidden)";

export function hideSecrets(value: unknown, path: readonly string[] = []): unknown {
  const [parent, name] = [path.at(-2), path.at(-1)];
  const isSecret = name === "apiKey" || parent === "headers" || parent === "env";
  if (isSecret && typeof value === "string") return hidden;
  if (Array.isArray(value)) {
    if (name === "args" && value.every((each) => typeof each === "string")) return withoutValues(value);
    return value.map((each, index) => hideSecrets(each, [...path, String(index)]));
  }
  if (typeof value === "string") return withoutValues([value])[0];
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, hideSecrets(each, [...path, key])]),
  );
}

function withoutValues(words: readonly string[]): string[] {
  return redactor({ names: false })
    .command(words)
    .map((word) => word.replaceAll(/\[(?:redacted|secret \d+)\]/g, hidden));
}
