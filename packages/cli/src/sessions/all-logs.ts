// The sessions of the history, and of Parley's own agent those that are in its own log only, such as those of an editor.

import { existsSync } from "node:fs";
import type { Entry } from "@parley/acp";
import { normalPath } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";
import type { SqliteStore } from "@parley/acp/node";
import { parseEntry, type StoredSession } from "@parley/acp/store";
import type { History, HistoryHit, HistorySession } from "@parley/client/history";
import { ownSessionsPath } from "../settings/data-folder.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { withHistory } from "./stored-sessions.ts";

/** A session, with whose log of it is shown. */
export interface LoggedSession extends HistorySession {
  readonly log: "host" | "agent";
}

interface LoggedHit extends HistoryHit {
  readonly session: LoggedSession;
}

type Query = Parameters<History["list"]>[0];

/** As a history, with the log of the agent where no host has the session. */
export interface AllLogs {
  find(word: string): Promise<LoggedSession | undefined>;
  /** Most recently used first. */
  list(query?: Query): Promise<readonly LoggedSession[]>;
  search(words: string, query?: Parameters<History["search"]>[1]): Promise<readonly LoggedHit[]>;
  entries(session: LoggedSession): AsyncIterable<Entry>;
  /** Deletes what the history has of it. */
  forget(session: LoggedSession): Promise<void>;
}

const pageSize = 200;
const shortestPrefix = 3;

/** Closes both when the work is done. */
export async function withAllLogs<Result>(work: (logs: AllLogs) => Promise<Result>): Promise<Result> {
  return withHistory(async (history) => {
    const path = ownSessionsPath();
    if (!existsSync(path)) return work(allLogs(history, undefined));
    const { sqliteStore } = await import("@parley/acp/node");
    const store = sqliteStore({ path });
    try {
      return await work(allLogs(history, store));
    } finally {
      await store.close();
    }
  });
}

function allLogs(history: History, store: SqliteStore | undefined): AllLogs {
  let own: Promise<ReadonlyMap<string, LoggedSession>> | undefined;
  /** Those that the history does not have, by their ids. */
  const ownSessions = () => {
    own ??= onlyAtAgent(history, store).catch((error: unknown) => {
      const why = safeLine(error instanceof Error ? error.message : String(error));
      process.stderr.write(`parley: the log of Parley's own agent cannot be read: ${why}\n`);
      return new Map();
    });
    return own;
  };
  return {
    async find(word) {
      const known = await history.find(word);
      if (known !== undefined) return hosted(known);
      const all = [...(await ownSessions()).values()];
      const near = word.length < shortestPrefix ? [] : all.filter(({ id }) => id.startsWith(word));
      const [first, another] = near;
      const others = (await history.list({ limit: Number.POSITIVE_INFINITY })).some(({ id }) =>
        id.startsWith(word),
      );
      return all.find(({ id }) => id === word) ?? (another === undefined && !others ? first : undefined);
    },
    async list({ limit = 20, ...query } = {}) {
      const known = await history.list({ ...query, limit: Number.POSITIVE_INFINITY });
      const more = [...(await ownSessions()).values()].filter(
        ({ cwd }) => query.cwd === undefined || normalPath(cwd) === normalPath(query.cwd),
      );
      const all = [...known.map(hosted), ...more].sort((one, other) => other.updatedAt - one.updatedAt);
      return all.slice(0, limit);
    },
    async search(words, query = {}) {
      const known = await history.search(words, query);
      const sessions = await ownSessions();
      const { limit = 20, cwd } = query;
      const found = sessions.size === 0 ? [] : await store?.search(words, { limit, ...optional({ cwd }) });
      const more = (found ?? []).flatMap(({ sessionId, snippet, seq }) => {
        const session = sessions.get(sessionId);
        return session === undefined ? [] : [{ session, snippet, seq }];
      });
      const all = known.map(({ session, ...hit }) => ({ ...hit, session: hosted(session) }));
      return [...all, ...more].slice(0, limit);
    },
    async *entries({ id, log }) {
      if (log === "host") return yield* history.entries(id);
      for await (const page of store?.read(id) ?? [])
        for (const each of page) if (each.kind !== "private") yield parseEntry(each);
    },
    async forget({ id, log }) {
      if (log === "host") await history.delete(id);
    },
  };
}

const hosted = (session: HistorySession): LoggedSession => ({ ...session, log: "host" });

async function onlyAtAgent(
  history: History,
  store: SqliteStore | undefined,
): Promise<ReadonlyMap<string, LoggedSession>> {
  if (store === undefined) return new Map();
  const known = await history.list({ limit: Number.POSITIVE_INFINITY });
  // however the agent was started
  const atHost = new Set(known.map(({ agentSessionId }) => agentSessionId));
  const found = new Map<string, LoggedSession>();
  let cursor: string | undefined;
  do {
    const page = await store.list({ limit: pageSize, cursor });
    for (const session of page.sessions)
      if (!atHost.has(session.sessionId) && session.head.lastSeq > 0)
        found.set(session.sessionId, atAgent(session));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

function atAgent(session: StoredSession): LoggedSession {
  const { sessionId, cwd, additionalDirectories, title, createdAt, updatedAt } = session;
  return {
    id: sessionId,
    name: undefined,
    title,
    agent: { name: "parley" },
    agentSessionId: sessionId,
    cwd,
    additionalDirectories,
    proxies: [],
    rewoundTo: undefined,
    createdAt,
    updatedAt,
    log: "agent",
  };
}
