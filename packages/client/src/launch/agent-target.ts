// Finds the agent that a caller names.

import { nearestWord } from "@parley/acp/internal";
import { type AgentEntry, type AgentSpec, agentEntry, commandEntry } from "../agents/agent-spec.ts";
import { readyAgents } from "../agents/ready-agents.ts";
import { LaunchError } from "./launch-error.ts";

/** Agents by their names: a list of specs that have one, or a record. */
export type KnownAgents = readonly AgentSpec[] | Readonly<Record<string, AgentSpec>>;

/** A name, a command with its arguments, or a spec. Throws a LaunchError for an unknown name. */
export function targetEntry(
  target: string | readonly string[] | AgentSpec,
  agents: KnownAgents = [],
): AgentEntry {
  if (typeof target === "string") return namedEntry(target, agents);
  return isCommand(target) ? commandEntry(target) : agentEntry(target);
}

function isCommand(target: readonly string[] | AgentSpec): target is readonly string[] {
  return Array.isArray(target);
}

function namedEntry(name: string, agents: KnownAgents): AgentEntry {
  const own = isList(agents)
    ? agents.map((spec) => agentEntry(spec))
    : Object.entries(agents).map(([key, spec]) => agentEntry({ ...spec, name: key }));
  // those of the caller come first: they may change a ready one
  const all = [...own, ...readyAgents({ command: "parley" })];
  const found = all.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const names = [...new Set(all.map((entry) => entry.name))];
  const near = nearestWord(name, names);
  const guess = near === undefined ? "." : `; did you mean ${near}?`;
  const hint = /[\s\\/]/.test(name)
    ? `give a command as a list: ${JSON.stringify(name.trim().split(/\s+/))}`
    : 'use one of these names, give `agents`, or give a command as a list, as ["node", "agent.js"]';
  throw new LaunchError(
    "unknown_agent",
    `unknown agent ${JSON.stringify(name)}${guess} Known agents: ${names.join(", ")}`,
    { hint },
  );
}

function isList(agents: KnownAgents): agents is readonly AgentSpec[] {
  return Array.isArray(agents);
}
