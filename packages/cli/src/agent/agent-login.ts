// `parley agent login`: stores a provider's key for the coding agent. The key is never printed, also not in part.

import type { Invocation } from "../command/command.ts";
import { credentialsPath } from "../settings/data-folder.ts";
import { askSecret } from "../terminal/secret-input.ts";
import { readAgentConfig, SettingError } from "./agent-config.ts";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const provider = values["provider"] ?? positionals[0];
  return logIn({
    provider: typeof provider === "string" ? provider : undefined,
    check: values["check"] === true,
    json,
  });
}

export interface Login {
  /** Default: the one of the model that is configured. */
  readonly provider: string | undefined;
  /** Ask the provider whether it takes the key, before it is stored. */
  readonly check: boolean;
  readonly json: boolean;
}

export async function logIn({ provider, check, json }: Login): Promise<number> {
  try {
    const { credentialsFile, keyProblem, loginProvider, ModelError } = await import("@parley/agent");
    const config = await readAgentConfig();
    let found: ReturnType<typeof loginProvider>;
    try {
      found = loginProvider(config, process.env, provider);
    } catch (error) {
      if (error instanceof ModelError) throw new SettingError(error.message);
      throw error;
    }
    const { id, label, variable } = found;
    const key = (await askSecret(`Key for ${label} (it is not shown): `))?.trim();
    if (key === undefined || key === "") throw new SettingError("no key was given, so nothing was stored");
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw new SettingError(
        "a key has no spaces and no characters outside ASCII: copy it again, nothing was stored",
      );
    }
    const problem = check ? await keyProblem(found, key) : undefined;
    if (problem !== undefined) throw new SettingError(`${problem}; nothing was stored`);
    const file = credentialsFile(credentialsPath());
    file.store(id, key);
    const isHidden = variable !== undefined && (process.env[variable] ?? "").trim() !== "";
    const note = isHidden ? `\n${variable} is set too and counts for more.` : "";
    const text = `The key for ${label} is stored in ${file.path}, readable for you only.${note}`;
    const data = { provider: id, file: file.path, checked: check };
    process.stdout.write(`${json ? JSON.stringify({ v: 1, data }) : text}\n`);
    return 0;
  } catch (error) {
    if (error instanceof SettingError) return refuse(error.message, json);
    throw error;
  }
}

function refuse(message: string, json: boolean): number {
  const hint = "see parley help agent login";
  if (json) process.stdout.write(`${JSON.stringify({ v: 1, error: { code: "login", message, hint } })}\n`);
  else process.stderr.write(`parley: ${message}\nparley: ${hint}\n`);
  return 2;
}
