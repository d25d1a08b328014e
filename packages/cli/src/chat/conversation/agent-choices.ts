// The agents that can be chosen: the ready ones and those of the config file.

import { findAgentProgram } from "@parley/client/launch";
import { readAgents } from "../../settings/named-agent.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { AgentChoice } from "./conversations.ts";

/** Those that are installed first. */
export function agentChoices(warn: (text: string) => void): readonly AgentChoice[] {
  const { agents, preferred } = readAgents(warn);
  const all = [...agents.values()].map((entry): AgentChoice => {
    const { name, title = name } = entry;
    const isDefault = name === preferred;
    if (entry.transport !== "stdio") {
      const host = URL.canParse(entry.url) ? new URL(entry.url).host : entry.url;
      return { name, description: safeLine(`${title}, at ${host}`), isInstalled: true, isDefault };
    }
    const isInstalled = "path" in findAgentProgram(entry.command, process.env, process.cwd());
    const install = isInstalled || entry.install === undefined ? "" : `; install it: ${entry.install}`;
    return { name, description: safeLine(`${title}${install}`), isInstalled, isDefault };
  });
  return [...all.filter(({ isInstalled }) => isInstalled), ...all.filter(({ isInstalled }) => !isInstalled)];
}
