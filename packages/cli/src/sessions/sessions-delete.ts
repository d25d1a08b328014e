// `parley sessions delete`: from the history, and at the agent where it can.

import type { HistorySession } from "@parley/client/history";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { ownVersion } from "../settings/installation.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { chooseAgent } from "../settings/named-agent.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { sessionNamed, withHistory } from "./open-history.ts";

/** What came of the sessions of one agent, at that agent. */
interface AtAgent {
  readonly agent: string;
  readonly sessions: readonly string[];
  readonly deleted: boolean;
  /** Where they were not: in words. */
  readonly reason?: string;
  /** It was tried, and failed. */
  readonly failed?: true;
}

export async function run({ positionals, values, json }: Invocation): Promise<number> {
  if (positionals.length === 0) {
    throw usageError("delete which sessions?", "give their ids; parley sessions list has them");
  }
  const sessions = await withHistory(async (history) => {
    // all of them are looked up before the first is deleted
    const found = new Map<string, HistorySession>();
    for (const word of positionals) {
      const session = await sessionNamed(history, word);
      found.set(session.id, session);
    }
    for (const id of found.keys()) await history.delete(id);
    return [...found.values()];
  });
  const deleted = sessions.map(({ id }) => id);
  const agents = values["history-only"] === true ? [] : await atAgents(sessions);
  const text = [`Deleted ${deleted.join(", ")} from the history.`, ...agents.map(described)].join(" ");
  printAnswer(text, { deleted, agents }, json);
  return agents.some(({ failed }) => failed) ? 1 : 0;
}

function described({ agent, deleted, reason = "" }: AtAgent): string {
  const name = safeLine(agent);
  return deleted
    ? `${name} has deleted its own copy.`
    : `What ${name} itself keeps is still there: ${reason}.`;
}

async function atAgents(sessions: readonly HistorySession[]): Promise<AtAgent[]> {
  const byAgent = Map.groupBy(sessions, ({ agent }) => JSON.stringify(agent));
  const ends: AtAgent[] = [];
  for (const some of byAgent.values()) ends.push(await atAgent(some));
  return ends;
}

async function atAgent(sessions: readonly HistorySession[]): Promise<AtAgent> {
  const { agent } = sessions[0] as HistorySession; // a group has one
  const facts = { agent: agent.name, sessions: sessions.map(({ id }) => id) };
  // what was typed once is not run again for that
  if (agent.command !== undefined)
    return { ...facts, deleted: false, reason: "it was started by a command, which is not run again" };
  try {
    const reason = await askedToDelete(agent.name, sessions);
    return reason === undefined ? { ...facts, deleted: true } : { ...facts, deleted: false, reason };
  } catch (error) {
    const words = await withoutSecrets(error instanceof Error ? error.message : String(error));
    return { ...facts, deleted: false, reason: safeLine(words), failed: true };
  }
}

/** How long an agent may take to delete what it keeps. */
const answerMs = 30_000;

/** Why it cannot. Nothing: it has. */
async function askedToDelete(name: string, sessions: readonly HistorySession[]): Promise<string | undefined> {
  const { entry, credentials } = await chooseAgent(name, []);
  const { launchAgent, problemOf } = await import("@parley/client");
  const { agent, close } = await launchAgent(entry, {
    definition: { name: "parley", version: ownVersion() },
    env: credentials,
  });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`it did not answer within ${answerMs} ms`)), answerMs);
  try {
    if (!agent.features.delete) return "it cannot delete sessions";
    for (const { agentSessionId } of sessions) {
      await Promise.race([agent.delete(agentSessionId), late.promise]).catch((error: unknown) => {
        // it has none, which is what was wanted
        if (problemOf(error).kind !== "session_not_found") throw error;
      });
    }
    return undefined;
  } finally {
    clearTimeout(timer);
    await close();
  }
}
