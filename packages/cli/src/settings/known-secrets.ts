// Collects known secrets, which must not appear in anything that is stored or printed.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { agentCredentialsPath } from "./agent-credentials.ts";
import { readConfig } from "./config-file.ts";
import { credentialsPath } from "./data-folder.ts";

/** From the environment, stored logins, the config file, and `given`: what was typed for this command. */
export async function knownSecrets(given: object = {}): Promise<string[]> {
  const [{ secretsIn, isSecretVariable }, keys, logins, config] = await Promise.all([
    import("@parley/acp/internal/redact"),
    stringsIn(credentialsPath()),
    stringsIn(agentCredentialsPath()),
    // commands that need the config report why it cannot be read
    readConfig(() => undefined).catch(() => ({})),
  ]);
  const { env } = process;
  const addresses = Object.values(env).filter((value) => value?.includes("://"));
  const variables = Object.entries(env).flatMap(([name, value = ""]) =>
    // the path of a key file is not secret
    isSecretVariable(name) && !(value.startsWith("/") && existsSync(value)) ? [value] : [],
  );
  return [...variables, ...keys, ...logins, ...secretsIn({ config, given, addresses })];
}

/** The value without known secrets. `argv` is what was typed. */
export async function withoutSecrets<Value>(value: Value, argv: readonly string[] = []): Promise<Value> {
  const { streamRedactor } = await import("@parley/acp/redact");
  return streamRedactor(await knownSecrets({ argv, values: argv.map(parsed) })).value(value);
}

/** `--mcp` takes JSON. */
function parsed(argument: string): unknown {
  try {
    return argument.trimStart().startsWith("{") ? JSON.parse(argument) : undefined;
  } catch {
    return undefined;
  }
}

/** Every string in a JSON file. */
async function stringsIn(path: string): Promise<string[]> {
  try {
    const found: string[] = [];
    JSON.parse(await readFile(path, "utf8"), (_, value: unknown) => {
      if (typeof value === "string") found.push(value);
      return value;
    });
    return found;
  } catch {
    // no login is stored
    return [];
  }
}
