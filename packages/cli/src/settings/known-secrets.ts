// Collects known secrets, which must not appear in anything that is stored or printed.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isSecretVariable, type Redactor, redactor, secretsIn, streamRedactor } from "@parley/acp/redact";
import { shellLine, shellWords } from "../command/shell-words.ts";
import { agentCredentialsPath } from "./agent-credentials.ts";
import { readConfig } from "./config-file.ts";
import { credentialsPath, mcpLoginsFolder } from "./data-folder.ts";

/** Loads the secrets when they are needed. */
export type SecretsLoader = () => Promise<readonly string[]>;

/** From the environment, stored logins, the config file, and `given`: what was typed for this command. */
export function knownSecrets(given: object = {}): string[] {
  const keys = stringsIn(credentialsPath());
  const logins = stringsIn(agentCredentialsPath());
  const tokens = mcpTokens();
  const config = readableConfig();
  const { env } = process;
  const addresses = Object.values(env).filter((value) => value?.includes("://"));
  const variables = Object.entries(env).flatMap(([name, value = ""]) =>
    // the path of a key file is not secret
    isSecretVariable(name, value) && !(value.startsWith("/") && existsSync(value)) ? [value] : [],
  );
  return [...variables, ...keys, ...logins, ...tokens, ...secretsIn({ config, given, addresses })];
}

function readableConfig(): object {
  try {
    return readConfig(() => undefined);
  } catch {
    // commands that need the config report why it cannot be read
    return {};
  }
}

/** The value without known secrets. `argv` is what was typed. */
export function withoutSecrets<Value>(value: Value, argv: readonly string[] = []): Value {
  return streamRedactor(knownSecrets(partsOf(argv))).value(value);
}

/** The words of a command as they are written to files, logs and screens. A word may be a command line of its own. */
export function shownWords(words: readonly string[]): string[] {
  const clean = redactor({ secrets: knownSecrets(partsOf(words)), names: false });
  return clean.command(words.map((word) => (/\s/.test(word) ? shownLine(word, clean) : word)));
}

function shownLine(line: string, clean: Redactor): string {
  try {
    const words = shellWords(line, "");
    const shown = clean.command(words);
    return shown.every((word, at) => word === words[at]) ? line : shellLine(shown);
  } catch {
    // it is no command line
    return line;
  }
}

/** An argument may be a command line, as that of `--proxy`, or JSON, as that of `--mcp`. */
function partsOf(argv: readonly string[]): object {
  const lines = argv.map((argument) => ({ argv: argument.split(/[\s"']+/) }));
  return { argv, lines, values: argv.map(parsed) };
}

function parsed(argument: string): unknown {
  try {
    return argument.trimStart().startsWith("{") ? JSON.parse(argument) : undefined;
  } catch {
    return undefined;
  }
}

/** The tokens of the logins to MCP servers, but not their addresses. */
function mcpTokens(): string[] {
  const folder = mcpLoginsFolder();
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return files.flatMap((name) => stringsIn(join(folder, name), /token$|secret$/));
  } catch {
    // no login is stored
    return [];
  }
}

/** Every string in a JSON file whose name fits. */
function stringsIn(path: string, wanted = /^/): string[] {
  try {
    const found: string[] = [];
    JSON.parse(readFileSync(path, "utf8"), (name, value: unknown) => {
      if (typeof value === "string" && wanted.test(name)) found.push(value);
      return value;
    });
    return found;
  } catch {
    // no login is stored
    return [];
  }
}
