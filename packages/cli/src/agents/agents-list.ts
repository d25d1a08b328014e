// `parley agents list`: lists known agents and whether they are installed.

import { optional } from "@parley/acp/internal";
import { type AgentEntry, findProgram } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { printAnswer } from "../command/print-answer.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { readAgents } from "../settings/named-agent.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export async function run({ json }: Invocation): Promise<number> {
  const { agents, preferred } = await readAgents();
  const listed = await withoutSecrets(
    [...agents.values()].map(({ entry }) => ({ ...facts(entry), isDefault: entry.name === preferred })),
  );
  const width = Math.max(...listed.map(({ name }) => name.length));
  const lines = listed.map(
    ({ name, isDefault, state }) => `${isDefault ? "*" : " "} ${name.padEnd(width)}  ${state}`,
  );
  const data = listed.map(({ state: _state, ...rest }) => rest);
  printAnswer(lines.map(escapedLine).join("\n"), { agents: data }, json);
  return 0;
}

function facts(entry: AgentEntry) {
  const { name, title = name, origin, transport } = entry;
  if (entry.transport !== "stdio") {
    return { name, title, origin, transport, url: entry.url, state: `${title}, at ${entry.url}` };
  }
  const { command, args, install } = entry;
  const found = findProgram(command, process.env, process.cwd());
  const isInstalled = "path" in found;
  const hint = install === undefined ? "" : `: ${install}`;
  return {
    name,
    title,
    origin,
    transport,
    command: [command, ...args],
    installed: isInstalled,
    ...optional({ path: isInstalled ? found.path : undefined, install }),
    state: isInstalled ? `${title}, ${found.path}` : `${title}, not installed${hint}`,
  };
}
