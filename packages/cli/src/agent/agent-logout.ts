// `parley agent logout`: forgets a key that was stored by a login.

import type { Invocation } from "../command/command.ts";
import { credentialsPath } from "../settings/data-folder.ts";
import { readAgentConfig, SettingError } from "./agent-config.ts";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const given = values["provider"] ?? positionals[0];
  const { credentialsFile, loginProvider, ModelError } = await import("@parley/agent");
  try {
    const file = credentialsFile(credentialsPath());
    const config = await readAgentConfig();
    const wanted = typeof given === "string" ? given : undefined;
    const { id, label } = loginProvider(config, process.env, wanted, file.key);
    const removed = file.remove(id);
    const text = removed ? `The key for ${label} has been forgotten.` : `No key for ${label} was stored.`;
    process.stdout.write(`${json ? JSON.stringify({ v: 1, data: { provider: id, removed } }) : text}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof SettingError || error instanceof ModelError)) throw error;
    const { message } = error;
    const hint = "see parley help agent logout";
    if (json) process.stdout.write(`${JSON.stringify({ v: 1, error: { code: "logout", message, hint } })}\n`);
    else process.stderr.write(`parley: ${message}\nparley: ${hint}\n`);
    return 2;
  }
}
