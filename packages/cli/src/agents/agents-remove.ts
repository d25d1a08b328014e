// `parley agents remove`: removes an agent from the config file.

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
      `unknown agent ${escapedLine(name)}; agents in the config file: ${own || "none"}`,
      "see parley agents list",
    );
  }
  const file = await changeConfig([
    [["agents", name], undefined],
    ...(config.client?.agent === name ? [[["client", "agent"], undefined] as const] : []),
  ]);
  printAnswer(`Removed ${name} from ${file}.`, { agent: name, file }, json);
  return 0;
}
