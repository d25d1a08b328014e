// The API of a managed agent: sessions that survive its crashes, login, pause and close.

import { type ClientConnection, ConnectionError, type SessionPage } from "@parley/acp";
import { optional, withTimeout } from "@parley/acp/internal";
import type { AgentSpec } from "../agents/agent-entry.ts";
import type { ConnectAgentOptions, LiveSession, ManagedSessionOptions } from "./live-options.ts";
import { ManagedProcess } from "./managed-process.ts";
import { ManagedSession } from "./managed-session.ts";

/** An agent that is restarted after a crash, with login and many sessions. */
export interface ManagedAgent {
  readonly entry: AgentSpec;
  /** The running agent. Throws while it is not running. */
  readonly connected: ClientConnection;
  /** The process id of an agent on this machine. */
  readonly pid: number | undefined;
  readonly sessions: readonly LiveSession[];
  newSession(place: ManagedSessionOptions): Promise<LiveSession>;
  /** Reopens a session. Its history arrives as updates before this resolves, where the agent can load it. */
  reopenSession(
    sessionId: string,
    place: ManagedSessionOptions,
    replay?: "history" | "silent",
  ): Promise<LiveSession>;
  /** One page of the agent's sessions. */
  listSessions(query?: { readonly cwd?: string; readonly cursor?: string }): Promise<SessionPage>;
  /** All sessions of the agent, up to `limit`. */
  listAllSessions(query?: AgentSessionsQuery): Promise<AgentSessions>;
  /** Logs in by this method; without one, the user chooses. */
  login(methodId?: string): Promise<void>;
  logout(): Promise<void>;
  readonly isPaused: boolean;
  /**
   * Stops reading from the agent until `resume`, answers included, so that it has to wait. For a caller that is slower
   * than the agent.
   */
  pause(): void;
  resume(): void;
  /** Ends the agent's input, reads what it still sends, and closes it. */
  finish(): Promise<void>;
  /** Ends the agent and all processes that it started. */
  close(): Promise<void>;
}

/** Starts an agent. Rejects with a LaunchError. */
export async function connectAgent(entry: AgentSpec, options: ConnectAgentOptions): Promise<ManagedAgent> {
  const sessions = new Set<ManagedSession>();
  const process = new ManagedProcess(
    entry,
    options,
    (sessionId) => [...sessions].find((each) => each.sessionId === sessionId)?.inner,
  );
  await process.running();
  const endSessions = () => {
    for (const session of sessions) session.end();
  };
  const begin = async (place: ManagedSessionOptions, start: (session: ManagedSession) => Promise<void>) => {
    const session = new ManagedSession(process, place, () => sessions.delete(session));
    await start(session);
    sessions.add(session);
    return session;
  };
  const list: ManagedAgent["listSessions"] = (query) =>
    process.authenticated(async ({ agent }) => {
      const { setupTimeoutMs = 60_000 } = options;
      const page = await withTimeout(setupTimeoutMs, agent.listSessions(query));
      if (page !== undefined) return page;
      const message = `${entry.name} did not list its sessions within ${setupTimeoutMs} ms`;
      throw new ConnectionError("timeout", message);
    });
  return {
    entry,
    get connected() {
      return process.connected;
    },
    get pid() {
      return process.pid;
    },
    get sessions() {
      return [...sessions];
    },
    get isPaused() {
      return process.isPaused;
    },
    newSession: (place) => begin(place, (session) => session.openNew()),
    reopenSession: (sessionId, place, replay = "history") =>
      begin(place, (session) => session.openOld(sessionId, replay)),
    listSessions: list,
    listAllSessions: (query = {}) => listAll(list, query),
    login: (methodId) => process.login(methodId),
    logout: () => process.logout(),
    pause: () => process.pause(),
    resume: () => process.resume(),
    finish: () => process.finish(endSessions),
    close: () => process.close(endSessions),
  };
}

export type AgentSession = SessionPage["sessions"][number];

export interface AgentSessionsQuery {
  /** Only sessions of this directory. */
  readonly cwd?: string;
  /** Default 1,000. */
  readonly limit?: number;
}

export interface AgentSessions {
  readonly sessions: readonly AgentSession[];
  /** Whether these are all sessions of the agent. */
  readonly isComplete: boolean;
}

/** For an agent that sends empty pages without end. */
const maxPages = 1_000;

export async function listAll(
  page: (query: { readonly cwd?: string; readonly cursor?: string }) => Promise<SessionPage>,
  { cwd, limit = 1_000 }: AgentSessionsQuery,
): Promise<AgentSessions> {
  const found = new Map<string, AgentSession>();
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const { sessions, nextCursor } = await page({
      ...optional({ cwd, cursor }),
    });
    for (const session of sessions) {
      // some agents ignore the directory
      if (cwd !== undefined && session.cwd !== cwd) continue;
      if (found.size === limit && !found.has(session.sessionId)) {
        return { sessions: [...found.values()], isComplete: false };
      }
      found.set(session.sessionId, session);
    }
    // a repeated cursor would never end
    cursor = nextCursor === undefined || seen.has(nextCursor) ? undefined : nextCursor;
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined && seen.size < maxPages);
  return { sessions: [...found.values()], isComplete: cursor === undefined };
}
