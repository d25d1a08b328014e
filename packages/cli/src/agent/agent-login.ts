// `parley agent login` and `logout`: stores and deletes API keys of providers. A key is never printed, not even in part.

import { credentialsFile, keyProblem, loginProvider } from "@parley/agent/models";
import { type Invocation, printAnswer } from "../command/command.ts";
import { credentialsPath } from "../settings/data-folder.ts";
import { askSecret } from "../terminal/secret-input.ts";
import { agentError, readAgentConfig, withModelErrors } from "./agent-settings.ts";

export async function login({ values, positionals, json }: Invocation): Promise<number> {
  const provider = values["provider"] ?? positionals[0];
  return logIn({
    provider: typeof provider === "string" ? provider : undefined,
    check: values["check"] === true,
    json,
  });
}

export interface Login {
  /** Default: that of the configured model. */
  readonly provider: string | undefined;
  /** Verify the key with the provider before it is stored. */
  readonly check: boolean;
  readonly json: boolean;
}

export async function logIn({ provider, check, json }: Login): Promise<number> {
  const config = readAgentConfig();
  const found = withModelErrors("agent login", () => loginProvider(config, process.env, provider));
  const { id, label, variable } = found;
  const key = (await askSecret(`API key for ${label} (not shown): `))?.trim();
  if (key === undefined || key === "") throw loginError("no key was given; nothing was stored");
  if (!/^[\x21-\x7e]+$/.test(key))
    throw loginError("a key has no spaces and only ASCII characters; copy it again. Nothing was stored");
  const problem = check ? await keyProblem(found, key) : undefined;
  if (problem !== undefined) throw loginError(`${problem}; nothing was stored`);
  const file = credentialsFile(credentialsPath());
  file.store(id, key);
  const isOverridden = variable !== undefined && (process.env[variable] ?? "").trim() !== "";
  const note = isOverridden ? `\n${variable} is set too, and overrides it.` : "";
  const text = `Stored the key for ${label} in ${file.path}, readable only by you.${note}`;
  return printAnswer(text, { provider: id, file: file.path, checked: check }, json);
}

function loginError(message: string) {
  return agentError("agent login", message);
}

export async function logout({ values, positionals, json }: Invocation): Promise<number> {
  const given = values["provider"] ?? positionals[0];
  const provider = typeof given === "string" ? given : undefined;
  const file = credentialsFile(credentialsPath());
  const config = readAgentConfig();
  const { id, label } = withModelErrors("agent logout", () =>
    loginProvider(config, process.env, provider, file.key),
  );
  const removed = file.remove(id);
  const text = removed ? `Deleted the key for ${label}.` : `No key for ${label} was stored.`;
  return printAnswer(text, { provider: id, removed }, json);
}
