// `parley sessions list --agent`: lists the sessions that an agent has itself, including those of other clients.

import type { SessionInfo } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { HistorySession } from "@parley/client/history";
import { allSessions } from "@parley/client/internal";
import { commandEntry } from "@parley/client/launch";
import { withAgent } from "../agents/with-agent.ts";
import { CommandError, printAnswer } from "../command/command.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { chooseAgent } from "../settings/named-agent.ts";
import { columns } from "../terminal/columns.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";
import { age, home, withHistory } from "./stored-sessions.ts";

export interface AgentSessionsQuery {
  readonly agent: string | undefined;
  readonly argv: readonly string[];
  readonly cwd: string | undefined;
  readonly limit: number;
}

interface Listed extends SessionInfo {
  /** Its id in the history, if it is there. */
  readonly session?: string;
}

export async function listAgentSessions(query: AgentSessionsQuery, json: boolean): Promise<number> {
  const { agent, argv, cwd, limit } = query;
  const chosen = chooseAgent(agent, argv);
  const { name } = chosen.entry;
  const { sessions, isComplete } = await withAgent(chosen, async (running) => {
    if (!running.capabilities.list) throw noSessionList(name);
    return allSessions(running, { limit, ...optional({ cwd }) });
  });
  const known = await historySessions(
    argv.length === 0 ? { name } : { name: commandEntry(argv).name, command: argv },
  );
  const listed = withoutSecrets(
    sessions.map(
      (session): Listed => ({ ...session, ...optional({ session: known.get(session.sessionId)?.id }) }),
    ),
    argv,
  );
  const text = listed.length === 0 ? nothing(name, cwd) : lines(listed).join("\n");
  printAnswer(text, { agent: name, sessions: listed, complete: isComplete }, json);
  if (!isComplete && !json) process.stderr.write(`Showing ${limit} sessions. For more, use -n COUNT.\n`);
  return 0;
}

/** The sessions with this agent in the history, by the agent's own id. */
async function historySessions(agent: HistorySession["agent"]): Promise<ReadonlyMap<string, HistorySession>> {
  const all = await withHistory((history) => history.list({ agent, limit: Number.POSITIVE_INFINITY }));
  return new Map(all.map((session) => [session.agentSessionId, session]));
}

/** A star marks those in the history. */
function lines(sessions: readonly Listed[]): string[] {
  const now = Date.now();
  return columns(
    sessions.map(({ sessionId, updatedAt, cwd, title, session }) => [
      `${session === undefined ? " " : "*"} ${safeLine(sessionId)}`,
      ageOf(updatedAt, now),
      home(cwd),
      safeLine(title ?? "(no title)"),
    ]),
  );
}

function ageOf(updatedAt: string | undefined, now: number): string {
  const time = Date.parse(updatedAt ?? "");
  return (Number.isNaN(time) ? "?" : age(now - time)).padStart(4);
}

function nothing(name: string, cwd: string | undefined): string {
  const where = cwd === undefined ? "" : ` in ${escapedLine(cwd)}`;
  return `${escapedLine(name)} has no sessions${where}.`;
}

function noSessionList(name: string): CommandError {
  return new CommandError(
    "not_offered",
    `${escapedLine(name)} does not support listing sessions`,
    "parley sessions list shows those in the history",
  );
}
