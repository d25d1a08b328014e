// Finds sessions: those that are open here, those of the history of all agents, and those that agents list.

import type { SessionInfo } from "@parley/acp";
import { withTimeout } from "@parley/acp/jsonrpc";
import type { Conversation } from "@parley/client/conversation";
import type { SessionHost } from "@parley/client/internal";
import { allSessions } from "@parley/client/internal";
import type { HistoryOpener } from "../../live/history-opener.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { FoundSession } from "./conversations.ts";
import type { AgentLists } from "./other-agents.ts";

/** A session that runs here: its host, and what is shown of it. */
export interface RunningSession {
  readonly host: Pick<SessionHost, "agent">;
  readonly shown: Conversation;
}

const mostFound = 200;
/** An agent that takes longer to list its sessions must not hide the others. */
const patienceMs = 3_000;

export async function foundSessions(
  query: string,
  running: readonly RunningSession[],
  history: HistoryOpener | undefined,
  signal: AbortSignal,
  /** What agents that do not run have listed. */
  elsewhere: AgentLists = new Map(),
): Promise<readonly FoundSession[]> {
  const words = query.trim();
  const sessions = running.map(({ shown }) => shown);
  const live = sessions.map(liveSession).filter((found) => matches(found, words));
  const kept = await keptSessions(words, history);
  if (signal.aborted) return [];
  const known = new Set([
    ...sessions.flatMap(({ sessionId }) => sessionId ?? []),
    ...kept.flatMap(({ agentSessionId }) => agentSessionId),
  ]);
  const listing = await listedSessions(running);
  const listed = [...new Map([...elsewhere, ...listing])].flatMap(([agent, list]) =>
    list.flatMap((info) => (known.has(info.sessionId) ? [] : [listedSession(agent, info)])),
  );
  const open = new Set(sessions.flatMap(({ historyId }) => historyId ?? []));
  const others = [
    ...kept.flatMap(({ found }) =>
      found.target.kind === "kept" && open.has(found.target.id) ? [] : [found],
    ),
    ...listed.filter((found) => matches(found, words)),
  ].sort((one, other) => (other.updatedAt ?? 0) - (one.updatedAt ?? 0));
  return signal.aborted ? [] : [...live, ...others].slice(0, mostFound);
}

function matches({ agent, title, cwd }: FoundSession, words: string): boolean {
  const text = `${agent} ${title} ${cwd}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function liveSession(session: Conversation): FoundSession {
  const { agent, title, cwd, phase, turn, questions } = session;
  const isBroken = phase === "failed" || phase === "crashed";
  const busy = turn === undefined ? "open" : "working";
  return {
    agent: agent.name,
    title: title ?? "new session",
    cwd,
    updatedAt: Date.now(),
    isLeft: session.branches?.to !== undefined,
    state: questions.length > 0 ? "needs you" : isBroken ? "failed" : busy,
    target: { kind: "live", session },
  };
}

/** By the text of the conversations; without words the latest ones. */
async function keptSessions(words: string, history: HistoryOpener | undefined) {
  const opened = await history?.open();
  if (opened === undefined) return [];
  const hits =
    words === ""
      ? (await opened.list({ limit: mostFound })).map((session) => ({ session, snippet: undefined }))
      : await opened.search(words, { limit: mostFound });
  const byId = new Map(hits.toReversed().map((hit) => [hit.session.id, hit]));
  return [...byId.values()].map(({ session, snippet }) => {
    const { id, name, title, agent, cwd, updatedAt, agentSessionId, rewoundTo } = session;
    const label = [name, title].filter((part) => part !== undefined).join(": ");
    const found: FoundSession = {
      agent: safeLine(agent.name),
      title: safeLine(label === "" ? "(no title)" : label),
      cwd: safeLine(cwd),
      updatedAt,
      state: "kept",
      isLeft: rewoundTo !== undefined,
      ...(snippet === undefined ? {} : { excerpt: safeLine(snippet) }),
      target: { kind: "kept", id },
    };
    return { found, agentSessionId };
  });
}

/** By agent. Those that run now say what they have now. */
async function listedSessions(sessions: readonly RunningSession[]): Promise<AgentLists> {
  const agents = new Map(
    sessions.flatMap(({ host, shown }) => {
      const { connection } = host.agent ?? {};
      return connection === undefined ? [] : [[shown.agent.name, connection] as const]; // a pair
    }),
  );
  const lists = [...agents].map(async ([name, running]) => {
    const { list, load, resume } = running.capabilities;
    if (list !== true || (load !== true && resume !== true)) return [];
    const none = { sessions: [] };
    // an agent that cannot list its sessions now has none to show
    const listing = allSessions(running, { limit: mostFound }).catch(() => none);
    const { sessions: all } = (await withTimeout(patienceMs, listing)) ?? none;
    return [[name, all] as const]; // a pair
  });
  return new Map((await Promise.all(lists)).flat());
}

function listedSession(agent: string, { sessionId, cwd, title, updatedAt }: SessionInfo): FoundSession {
  return {
    agent,
    title: safeLine(title ?? "(no title)"),
    cwd: safeLine(cwd),
    updatedAt: updatedAt === undefined ? undefined : Date.parse(updatedAt) || undefined,
    state: "kept",
    target: { kind: "listed", agent, sessionId, cwd },
  };
}
