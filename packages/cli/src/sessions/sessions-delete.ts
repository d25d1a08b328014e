// `parley sessions delete`: deletes sessions from the history, and from the agent if it can.

import { withTimeout } from "@parley/acp/jsonrpc";
import { problemOf } from "@parley/client";
import type { HistorySession } from "@parley/client/history";
import { launchAgent } from "@parley/client/launch";
import { type Invocation, printAnswer, usageError } from "../command/command.ts";
import { ownVersion } from "../settings/installation.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { chooseAgent } from "../settings/named-agent.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { type LoggedSession, withAllLogs } from "./all-logs.ts";
import { sessionNamed } from "./stored-sessions.ts";

/** The result for the sessions of one agent. */
interface AgentResult {
  readonly agent: string;
  readonly sessions: readonly string[];
  readonly deleted: boolean;
  /** Why they were not deleted. */
  readonly reason?: string;
  /** The agent was asked, and failed. */
  readonly failed?: true;
}

export async function run({ positionals, values, json }: Invocation): Promise<number> {
  if (positionals.length === 0)
    throw usageError("expected at least one session", "parley sessions list prints the ids");
  const sessions = await withAllLogs(async (logs) => {
    // all are looked up before the first is deleted
    const found = new Map<string, LoggedSession>();
    for (const word of positionals) {
      const session = await sessionNamed(logs, word);
      found.set(session.id, session);
    }
    for (const session of found.values()) await logs.forget(session);
    return [...found.values()];
  });
  const deleted = sessions.flatMap(({ id, log }) => (log === "host" ? [id] : []));
  const agents: AgentResult[] = [];
  if (values["history-only"] !== true)
    for (const group of Map.groupBy(sessions, ({ agent }) => JSON.stringify(agent)).values())
      agents.push(await deleteFromAgent(group));
  const fromHistory = deleted.length === 0 ? [] : [`Deleted ${deleted.join(", ")} from the history.`];
  const text = [...fromHistory, ...agents.map(described)].join(" ") || "Nothing was deleted.";
  printAnswer(text, { deleted, agents }, json);
  return agents.some(({ failed }) => failed) ? 1 : 0;
}

function described({ agent, deleted, reason = "" }: AgentResult): string {
  const name = safeLine(agent);
  return deleted ? `${name} deleted its own copy.` : `${name} may still have its own copy: ${reason}.`;
}

async function deleteFromAgent(sessions: readonly HistorySession[]): Promise<AgentResult> {
  const { agent } = sessions[0] as HistorySession; // a group has one
  const facts = { agent: agent.name, sessions: sessions.map(({ id }) => id) };
  // a command that was typed once is not run again for this
  if (agent.command !== undefined)
    return { ...facts, deleted: false, reason: "it was started with a command, which is not run again" };
  try {
    const reason = await requestDeletion(agent.name, sessions);
    return reason === undefined ? { ...facts, deleted: true } : { ...facts, deleted: false, reason };
  } catch (error) {
    const message = withoutSecrets(error instanceof Error ? error.message : String(error));
    return { ...facts, deleted: false, reason: safeLine(message), failed: true };
  }
}

/** How long an agent may take to delete its copies. */
const timeoutMs = 30_000;

/** Returns why the agent cannot delete sessions; undefined if it did. */
async function requestDeletion(
  name: string,
  sessions: readonly HistorySession[],
): Promise<string | undefined> {
  const { entry, credentials } = chooseAgent(name, []);
  const { agent, close } = await launchAgent(entry, {
    definition: { name: "parley", version: ownVersion() },
    env: credentials,
  });
  const deleteAll = async () => {
    for (const { agentSessionId } of sessions) {
      await agent.deleteSession(agentSessionId).catch((error: unknown) => {
        if (problemOf(error).kind !== "session_not_found") throw error;
      });
    }
    return "deleted" as const;
  };
  try {
    if (!agent.capabilities.delete) return "it cannot delete sessions";
    if ((await withTimeout(timeoutMs, deleteAll())) === undefined)
      throw new Error(`it did not respond within ${timeoutMs} ms`);
    return undefined;
  } finally {
    await close();
  }
}
