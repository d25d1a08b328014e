// Which agent a run is for, which session it goes on with, and where.

import { fileURLToPath } from "node:url";
import { type AgentEntry, commandEntry, readyAgents } from "@parley/client";
import type { History, HistoryAgent, HistorySession } from "@parley/client/history";
import { usageError } from "../command-error.ts";
import { printable } from "../wire-printer.ts";
import type { RunOptions } from "./run-options.ts";

export interface RunTarget {
  readonly entry: AgentEntry;
  /** How the history calls it. */
  readonly agent: HistoryAgent;
  readonly cwd: string;
  readonly known: HistorySession | undefined;
}

const launcher = fileURLToPath(new URL("../../bin/parley", import.meta.url));

export async function runTarget(options: RunOptions, history: History | undefined): Promise<RunTarget> {
  const { agent: name, command, session, cwd, isCwdGiven } = options;
  const isGiven = name !== undefined || command.length > 0;
  const given = historyAgent(name, command);
  const known = session === undefined ? undefined : await history?.find(session, { agent: given, cwd });
  const agent = known === undefined || isGiven ? given : known.agent;
  if (known !== undefined && !sameAgent(agent, known.agent)) {
    throw usageError(
      `the session ${session} is with ${printable(known.agent.name)}, not with ${printable(agent.name)}`,
      "leave the agent out, or give another name to begin a new session",
    );
  }
  const entry = entryOf(agent);
  return { entry, agent, cwd: known === undefined || isCwdGiven ? cwd : known.cwd, known };
}

function historyAgent(name: string | undefined, command: readonly string[]): HistoryAgent {
  const [program] = command;
  if (program === undefined) return { name: name ?? "parley" };
  return { name: commandEntry(command).name, command };
}

function sameAgent(one: HistoryAgent, other: HistoryAgent): boolean {
  return JSON.stringify(one.command ?? one.name) === JSON.stringify(other.command ?? other.name);
}

function entryOf({ name, command }: HistoryAgent): AgentEntry {
  if (command !== undefined) return commandEntry(command);
  const agents = readyAgents({ command: launcher });
  const entry = agents.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  const names = agents.map((each) => each.name).join(", ");
  throw usageError(
    `there is no agent ${printable(name)}; there are ${names}`,
    "for any other give its command: parley run PROMPT -- COMMAND ARGUMENTS",
  );
}
