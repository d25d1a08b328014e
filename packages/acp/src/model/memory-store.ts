// A session store in memory, for tests and for applications that keep no history.

import { normalPath } from "../base/normal-path.ts";
import { optional } from "../base/objects.ts";
import type { SessionQuery, SessionRecord, SessionRecordPage, SessionStore, StoredEntry } from "./store.ts";
import {
  checkSequence,
  cursorAfter,
  forked,
  isListed,
  type ListPosition,
  notClaimed,
  pageSize,
  patched,
  positionFromCursor,
  sessionExists,
  unknownSession,
} from "./store-rules.ts";

/** The entries of one append, in as few objects as possible: the garbage collector moves and marks each. */
interface EntryPage {
  /** The number of the first entry. */
  readonly seq: number;
  /** The texts of all entries, and where each of them ends. */
  readonly text: string;
  readonly ends: readonly number[];
  readonly times: readonly number[];
  readonly formats: readonly number[];
  readonly kinds: readonly string[];
  readonly tags: readonly (string | undefined)[];
}

interface HeldSession {
  record: SessionRecord;
  readonly pages: EntryPage[];
  /** The number of the last entry. */
  lastSeq: number;
  isClaimed: boolean;
}

/**
 * Makes a store that keeps sessions in memory, for tests and for agents that keep no history. Agents without a store use
 * one of their own.
 *
 * @returns The store. Everything in it is gone after `close`.
 * @example
 * import { agent } from "@parley/acp";
 * import { memoryStore } from "@parley/acp/store";
 *
 * const store = memoryStore();
 * const echo = agent({
 *   name: "echo",
 *   version: "1.0.0",
 *   session: { store },
 *   prompt: async (turn) => turn.say(turn.text),
 * });
 * console.log(echo.definition.name, (await store.list()).sessions.length);
 */
export function memoryStore(): SessionStore & AsyncDisposable {
  const sessions = new Map<string, HeldSession>();
  let isClosed = false;

  function checkOpen(): void {
    if (isClosed) throw new Error("the session store is closed");
  }

  async function close(): Promise<void> {
    isClosed = true;
    sessions.clear();
  }

  function held(sessionId: string): HeldSession {
    checkOpen();
    const session = sessions.get(sessionId);
    if (session === undefined) throw unknownSession(sessionId);
    return session;
  }

  function add(record: SessionRecord, entries: Pick<HeldSession, "pages" | "lastSeq">): void {
    checkOpen();
    if (sessions.has(record.sessionId)) throw sessionExists(record.sessionId);
    sessions.set(record.sessionId, { record: copyOf(record), ...entries, isClaimed: true });
  }

  return {
    async create(record) {
      add(record, { pages: [], lastSeq: 0 });
    },
    async get(sessionId) {
      checkOpen();
      const session = sessions.get(sessionId);
      return session && copyOf(session.record);
    },
    async patch(sessionId, patch) {
      const session = held(sessionId);
      session.record = copyOf(patched(session.record, patch));
    },
    async list(query = {}) {
      checkOpen();
      return pageOf([...sessions.values()], query);
    },
    async append(sessionId, entries) {
      const session = held(sessionId);
      if (!session.isClaimed) throw notClaimed(sessionId);
      checkSequence(sessionId, session.lastSeq, entries);
      if (entries.length === 0) return;
      session.pages.push(entryPage(entries));
      session.lastSeq += entries.length;
    },
    async *entries(sessionId, fromSeq = 1) {
      const { pages, lastSeq } = held(sessionId);
      for (const page of pages) {
        if (page.seq > lastSeq) return;
        for (const entry of entriesOf(page, fromSeq)) {
          if (held(sessionId).pages !== pages) throw unknownSession(sessionId);
          yield entry;
        }
      }
    },
    async fork(sessionId, record) {
      const source = held(sessionId);
      add(forked(source.record, record), { pages: source.pages.slice(), lastSeq: source.lastSeq });
    },
    async delete(sessionId) {
      checkOpen();
      sessions.delete(sessionId);
    },
    async claim(sessionId) {
      held(sessionId).isClaimed = true;
    },
    async release(sessionId) {
      checkOpen();
      const session = sessions.get(sessionId);
      if (session !== undefined) session.isClaimed = false;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function pageOf(sessions: readonly HeldSession[], query: SessionQuery): SessionRecordPage {
  const place = positionFromCursor(query);
  const size = pageSize(query);
  const cwd = query.cwd === undefined ? undefined : normalPath(query.cwd);
  const found = sessions
    .map(({ record }) => record)
    .filter((record) => cwd === undefined || normalPath(record.cwd) === cwd)
    .filter(({ archived = false }) => isListed(query, archived))
    .filter((record) => place === undefined || newestFirst(place, record) < 0)
    .sort(newestFirst);
  const page = found.slice(0, size).map(copyOf);
  const last = page.at(-1);
  if (last === undefined || found.length <= size) return { sessions: page };
  return { sessions: page, nextCursor: cursorAfter(last, query) };
}

function newestFirst(one: ListPosition, other: ListPosition): number {
  if (one.updatedAt !== other.updatedAt) return other.updatedAt - one.updatedAt;
  if (one.sessionId === other.sessionId) return 0;
  return one.sessionId > other.sessionId ? -1 : 1;
}

function copyOf(record: SessionRecord): SessionRecord {
  return JSON.parse(JSON.stringify(record));
}

/** The page of at least one entry. */
function entryPage(entries: readonly StoredEntry[]): EntryPage {
  let end = 0;
  const ends: number[] = [];
  for (const { text } of entries) {
    end += text.length;
    ends.push(end);
  }
  return {
    seq: entries[0]?.seq ?? 0,
    text: entries.map(({ text }) => text).join(""),
    ends,
    times: entries.map(({ time }) => time),
    formats: entries.map(({ format }) => format),
    kinds: entries.map(({ kind }) => kind),
    tags: entries.map(({ tag }) => tag),
  };
}

/** The entries from `fromSeq` on. */
function* entriesOf(page: EntryPage, fromSeq: number): Generator<StoredEntry, void> {
  for (const [at, end] of page.ends.entries()) {
    const seq = page.seq + at;
    if (seq < fromSeq) continue;
    const text = page.text.slice(page.ends[at - 1] ?? 0, end);
    const { [at]: format = 0 } = page.formats;
    const { [at]: time = 0 } = page.times;
    const { [at]: kind = "" } = page.kinds;
    const { [at]: tag } = page.tags;
    yield { format, seq, time, kind, ...optional({ tag }), text };
  }
}
