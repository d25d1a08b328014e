// Every session of every agent, in one file of the library's store: recorded while it runs, listed, searched, shown,
// deleted. The store, and SQLite with it, is loaded by the first call that needs it.

import { type Entry, errorCodes, RequestError } from "@parley/acp";
import type { SqliteStore } from "@parley/acp/node";
import {
  type HistoryAgent,
  type HistorySession,
  type NewHistorySession,
  recordFrom,
  sessionFrom,
  sessionId,
} from "./history-record.ts";
import { type SessionRecorder, sessionRecorder } from "./session-recorder.ts";

export interface HistoryOptions {
  /** The file; it and its directories are made where they are missing, for this user alone. */
  readonly path: string;
  /** Told once per session when something could not be stored. Default: nobody. */
  readonly failed?: (error: unknown) => void;
}

export interface HistoryQuery {
  /** Only sessions of this working directory. */
  readonly cwd?: string;
  /** Default 20. */
  readonly limit?: number;
}

export interface HistoryHit {
  readonly session: HistorySession;
  /** A few words around the match, on one line. */
  readonly snippet: string;
  /** The first entry of the message. */
  readonly seq: number;
}

export interface History {
  /** Opens the file now; without it the first call does. */
  open(): Promise<void>;
  /** Starts to record a session that has just been opened. One with the name of an older one replaces it. */
  begin(session: NewHistorySession): Promise<SessionRecorder>;
  /** Goes on with a session that was recorded before. Rejects with RequestError -32066 while another process does. */
  resume(id: string, agentSessionId?: string): Promise<SessionRecorder>;
  /**
   * By its id. With a place also by its name there, and by nothing else: somebody may be about to use the name for a new
   * one. Without a place also by its name anywhere or the beginning of its id, if only one has it.
   */
  find(
    word: string,
    place?: { readonly agent: HistoryAgent; readonly cwd: string },
  ): Promise<HistorySession | undefined>;
  /** Most recently used first. */
  list(query?: HistoryQuery): Promise<readonly HistorySession[]>;
  /** Messages that have all the words, best first. */
  search(words: string, query?: HistoryQuery): Promise<readonly HistoryHit[]>;
  entries(id: string): AsyncIterable<Entry>;
  delete(id: string): Promise<void>;
  close(): Promise<void>;
}

const pageSize = 200;
const shortestPrefix = 3;

export function openHistory({ path, failed = () => undefined }: HistoryOptions): History {
  let opened: Promise<SqliteStore> | undefined;
  const store = (): Promise<SqliteStore> => {
    opened ??= import("@parley/acp/node").then(({ sqliteStore }) => sqliteStore({ path }));
    return opened;
  };
  const record = async (session: HistorySession, lastSeq: number): Promise<SessionRecorder> =>
    sessionRecorder({
      store: await store(),
      id: session.id,
      lastSeq,
      title: session.title,
      now: Date.now,
      failed,
    });

  return {
    async open() {
      await (await store()).open();
    },

    async begin(session) {
      const sessions = await store();
      const made = recordFrom(session, Date.now());
      if (session.name !== undefined && (await sessions.get(made.sessionId)) !== undefined) {
        // fails while another process works in it
        await sessions.claim(made.sessionId);
        await sessions.delete(made.sessionId);
      }
      await sessions.create(made);
      return record(sessionFrom(made), 0);
    },

    async resume(id, agentSessionId) {
      const sessions = await store();
      await sessions.claim(id);
      const known = await sessions.get(id);
      if (known === undefined) throw unknownSession(id);
      const recorder = await record(sessionFrom(known), await lastSeqOf(sessions, id));
      if (agentSessionId !== undefined) await recorder.renamed(agentSessionId);
      return recorder;
    },

    async find(word, place) {
      const sessions = await store();
      const named = place && (await sessions.get(sessionId(place.agent, place.cwd, word)));
      const exact = named ?? (await sessions.get(word));
      if (exact !== undefined) return sessionFrom(exact);
      if (place !== undefined) return undefined;
      const near: HistorySession[] = [];
      for await (const each of allSessions(sessions)) {
        if (each.name === word || (word.length >= shortestPrefix && each.id.startsWith(word)))
          near.push(each);
      }
      return near.length === 1 ? near[0] : undefined;
    },

    async list({ cwd, limit = 20 } = {}) {
      const found: HistorySession[] = [];
      for await (const session of allSessions(await store(), cwd)) {
        if (found.length >= limit) break;
        found.push(session);
      }
      return found;
    },

    async search(words, { cwd, limit = 20 } = {}) {
      const sessions = await store();
      const hits = await sessions.search(words, { limit, ...(cwd === undefined ? {} : { cwd }) });
      const found: HistoryHit[] = [];
      for (const { sessionId: id, snippet, seq } of hits) {
        const known = await sessions.get(id);
        if (known !== undefined) found.push({ session: sessionFrom(known), snippet, seq });
      }
      return found;
    },

    async *entries(id) {
      yield* (await store()).entries(id);
    },

    async delete(id) {
      const sessions = await store();
      if ((await sessions.get(id)) === undefined) throw unknownSession(id);
      // not while another process records it
      await sessions.claim(id);
      await sessions.delete(id);
    },

    async close() {
      await (await opened)?.close();
    },
  };
}

async function* allSessions(store: SqliteStore, cwd?: string): AsyncGenerator<HistorySession> {
  let cursor: string | undefined;
  do {
    const query = { limit: pageSize, ...(cwd === undefined ? {} : { cwd }), ...(cursor && { cursor }) };
    const page = await store.list(query);
    yield* page.sessions.map(sessionFrom);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** Entries are numbered without gaps, so the last one is found by asking whether there is one from here on. */
async function lastSeqOf(store: SqliteStore, id: string): Promise<number> {
  const has = async (seq: number): Promise<boolean> => {
    for await (const _ of store.entries(id, seq)) return true;
    return false;
  };
  let low = 0;
  let high = 1;
  while (await has(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await has(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function unknownSession(id: string): RequestError {
  return new RequestError(errorCodes.notFound, `no session ${id} in the history`);
}
