// The secrets that we were given: whatever is kept, shared or told by us must not hold them.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { agentCredentialsPath } from "./agent-credentials.ts";
import { configText, parsedConfig } from "./config-file.ts";
import { credentialsPath } from "./data-folder.ts";

/**
 * Of the environment, of the stored logins and of the config; `given` is what was typed for this command alone, such as
 * the argv of an agent or MCP servers.
 */
export async function knownSecrets(given: object = {}): Promise<string[]> {
  const [{ secretsIn, isSecretVariable }, keys, logins, config] = await Promise.all([
    import("@parley/acp/redact"),
    stringsIn(credentialsPath()),
    stringsIn(agentCredentialsPath()),
    readConfig(),
  ]);
  const { env } = process;
  const addresses = Object.values(env).filter((value) => value?.includes("://"));
  const variables = Object.entries(env).flatMap(([name, value = ""]) =>
    // where a key is kept is no secret
    isSecretVariable(name) && !(value.startsWith("/") && existsSync(value)) ? [value] : [],
  );
  return [...variables, ...keys, ...logins, ...secretsIn({ config, given, addresses })];
}

/** What a command has to say of itself, as far as others may read it. `argv` is what was typed. */
export async function withoutSecrets<Told>(told: Told, argv: readonly string[] = []): Promise<Told> {
  const { StreamRedactor } = await import("@parley/acp/redact");
  return new StreamRedactor(await knownSecrets({ argv, values: argv.map(parsed) })).value(told);
}

/** `--mcp` takes JSON. */
function parsed(argument: string): unknown {
  try {
    return argument.trimStart().startsWith("{") ? JSON.parse(argument) : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever the shape of the file: every string in it may be a key. */
async function stringsIn(path: string): Promise<string[]> {
  try {
    const found: string[] = [];
    JSON.parse(await readFile(path, "utf8"), (_, value: unknown) => {
      if (typeof value === "string") found.push(value);
      return value;
    });
    return found;
  } catch {
    // nobody has logged in
    return [];
  }
}

/** One that cannot be read is told to whoever needs it. */
async function readConfig(): Promise<object> {
  try {
    const text = await configText();
    return text === "" ? {} : await parsedConfig(text, () => undefined);
  } catch {
    return {};
  }
}
