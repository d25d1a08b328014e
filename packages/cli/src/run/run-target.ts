// Which agent a run is for, which session it goes on with, and where.

import { type AgentSession, commandEntry } from "@parley/client";
import type { HistoryAgent, HistorySession } from "@parley/client/history";
import { usageError } from "../command/command-error.ts";
import { type ChosenAgent, chooseAgent, isOwnAgent } from "../settings/named-agent.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import type { RunOptions } from "./run-options.ts";
import type { RunHistory } from "./run-recorder.ts";

export interface RunTarget extends ChosenAgent {
  /** How the history calls it. */
  readonly agent: HistoryAgent;
  readonly cwd: string;
  readonly known: HistorySession | undefined;
  /** What the agent itself says of the session that is gone on with. */
  readonly listed?: AgentSession;
  /** What the user should know when the session has begun. */
  readonly note?: string;
}

export async function runTarget(options: RunOptions, history: RunHistory | undefined): Promise<RunTarget> {
  const { agent: name, command, session, cwd, isCwdGiven } = options;
  const isGiven = name !== undefined || command.length > 0;
  const chosen = await chooseAgent(name, command);
  const given = historyAgent(chosen.entry.name, command);
  const known = await knownSession(options, history, given, isGiven);
  const agent = known === undefined || isGiven ? given : known.agent;
  if (known !== undefined && !(await isSame(agent, known.agent))) {
    throw usageError(
      `the session ${session} is with ${escapedLine(known.agent.name)}, not with ${escapedLine(agent.name)}`,
      "leave the agent out, or give another name to begin a new session",
    );
  }
  // an agent may hold it to that (C15)
  if (known !== undefined && isCwdGiven && cwd !== known.cwd) {
    throw usageError(
      `the session ${escapedLine(session ?? "")} is in ${escapedLine(known.cwd)}, not in ${escapedLine(cwd)}`,
      "leave --cwd out, or give another name to begin a new session",
    );
  }
  const target = agent === given ? chosen : await chooseAgent(agent.name, agent.command ?? []);
  const entry = options.keepsHistory ? target.entry : forgetting(target.entry);
  return { ...target, entry, agent, cwd: known?.cwd ?? cwd, known };
}

/** Our own agent keeps nothing where nothing is to be kept. What others keep is theirs. */
function forgetting(entry: ChosenAgent["entry"]): ChosenAgent["entry"] {
  if (entry.transport !== "stdio" || !isOwnAgent(entry)) return entry;
  return { ...entry, args: [...entry.args, "--no-history"] };
}

async function knownSession(
  { session, isContinued, cwd }: RunOptions,
  history: RunHistory | undefined,
  agent: HistoryAgent,
  isAgentGiven: boolean,
): Promise<HistorySession | undefined> {
  if (session !== undefined) return (await history?.open())?.find(session, { agent, cwd });
  if (!isContinued) return undefined;
  const query = { cwd, limit: 1, ...(isAgentGiven ? { agent } : {}) };
  const [last] = (await (await history?.open())?.list(query)) ?? [];
  if (last !== undefined) return last;
  const whose = isAgentGiven ? ` with ${escapedLine(agent.name)}` : "";
  throw usageError(
    `there is no session${whose} in ${escapedLine(cwd)} to go on with`,
    "leave --continue out to begin one; parley sessions list has those of other directories",
  );
}

/** The history is loaded where there is something known. */
async function isSame(one: HistoryAgent, other: HistoryAgent): Promise<boolean> {
  const { isSameAgent } = await import("@parley/client/history");
  return isSameAgent(one, other);
}

function historyAgent(name: string, command: readonly string[]): HistoryAgent {
  return command.length === 0 ? { name } : { name: commandEntry(command).name, command };
}
