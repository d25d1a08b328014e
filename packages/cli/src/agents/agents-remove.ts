// `parley agents remove`: takes an agent of one's own out of the config file.

import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { changeConfig } from "../settings/change-config.ts";
import { readAgents } from "../settings/named-agent.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  const [name = ""] = positionals;
  const { config } = await readAgents();
  if (!Object.hasOwn(config.agents ?? {}, name)) {
    const own = Object.keys(config.agents ?? {}).join(", ");
    throw usageError(
      `there is no agent ${escapedLine(name)} in the config; there are: ${own || "none"}`,
      "see parley agents list",
    );
  }
  const file = await changeConfig([
    [["agents", name], undefined],
    ...(config.client?.agent === name ? [[["client", "agent"], undefined] as const] : []),
  ]);
  printAnswer(`${name} is no longer in ${file}.`, { agent: name, file }, json);
  return 0;
}
