// `parley agent logout`: deletes a stored API key.

import type { Invocation } from "../command/command.ts";
import { printAnswer } from "../command/print-answer.ts";
import { credentialsPath } from "../settings/data-folder.ts";
import { readAgentConfig, withModelErrors } from "./agent-config.ts";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const given = values["provider"] ?? positionals[0];
  const provider = typeof given === "string" ? given : undefined;
  const { credentialsFile, loginProvider } = await import("@parley/agent");
  const file = credentialsFile(credentialsPath());
  const config = await readAgentConfig();
  const { id, label } = await withModelErrors("agent logout", () =>
    loginProvider(config, process.env, provider, file.key),
  );
  const removed = file.remove(id);
  const text = removed ? `Deleted the key for ${label}.` : `No key for ${label} was stored.`;
  printAnswer(text, { provider: id, removed }, json);
  return 0;
}
