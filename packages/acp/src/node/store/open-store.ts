// Implements the store on an open file; sqlite-store.ts loads it on first use and reopens it after a lost connection.

import { resolve } from "node:path";
import { RequestError } from "../../jsonrpc/errors.ts";
import type {
  SessionPatch,
  SessionQuery,
  SessionRecord,
  SessionRecordPage,
  StoredEntry,
} from "../../model/store.ts";
import {
  checkSequence,
  cursorAfter,
  forked,
  pageSize,
  patched,
  positionFromCursor,
} from "../../log/store-rules.ts";
import { Database } from "./database.ts";
import { addEntries, newEntry, readPages, removeEntries } from "./entry-rows.ts";
import {
  addSession,
  checkHeldHere,
  claim,
  findSession,
  knownSession,
  listSessions,
  recordOf,
  release,
  type SessionRow,
  storeRecord,
  unlinkSession,
} from "./session-rows.ts";
import { StoreError, translated } from "./store-error.ts";
import { defaultBusyTimeoutMs, openFile } from "./store-file.ts";
import type { SearchHit, SearchOptions, SqliteStoreOptions, StoreProblem } from "./store-options.ts";
import { indexStep, searchIndex, unindex } from "./text-index.ts";

/** Pages to return to the file system after a deletion, in a few milliseconds. */
const vacuumedPages = 2_000;

export async function openStore(options: SqliteStoreOptions): Promise<OpenStore> {
  const path = resolve(options.path);
  try {
    return new OpenStore(new Database(await openFile(options), path), options);
  } catch (error) {
    throw translated(error, path);
  }
}

export class OpenStore {
  readonly #db: Database;
  readonly #options: SqliteStoreOptions;
  readonly #deletions = new Set<Promise<void>>();

  constructor(db: Database, options: SqliteStoreOptions) {
    this.#db = db;
    this.#options = options;
  }

  get isBroken(): boolean {
    return this.#db.isBroken;
  }

  create(record: SessionRecord): Promise<void> {
    return this.#db.change(() => addSession(this.#db, record, { parent: undefined, baseSeq: 0 }));
  }

  get(sessionId: string): SessionRecord | undefined {
    this.#db.flush();
    const row = findSession(this.#db, sessionId);
    return row && recordOf(this.#db, row);
  }

  patch(sessionId: string, patch: SessionPatch): Promise<void> {
    return this.#db.change(() => {
      const row = knownSession(this.#db, sessionId);
      storeRecord(this.#db, row.key, patched(recordOf(this.#db, row), patch));
    });
  }

  list(query: SessionQuery): SessionRecordPage {
    const place = positionFromCursor(query);
    const size = pageSize(query);
    this.#db.flush();
    const rows = listSessions(this.#db, { query, place, count: size + 1 });
    const page = rows.slice(0, size);
    const sessions = page.flatMap((row) => this.#readable(row));
    const last = page.at(-1);
    if (last?.id === undefined || rows.length <= size) return { sessions };
    return { sessions, nextCursor: cursorAfter({ updatedAt: last.updatedAt, sessionId: last.id }, query) };
  }

  append(sessionId: string, given: readonly StoredEntry[]): Promise<void> {
    const entries = given.map(newEntry);
    return this.#db.change(() => {
      const row = knownSession(this.#db, sessionId);
      checkHeldHere(row);
      checkSequence(sessionId, row.lastSeq, given);
      addEntries(this.#db, row.key, entries);
    });
  }

  pages(sessionId: string, fromSeq: number): AsyncGenerator<readonly StoredEntry[]> {
    this.#db.flush();
    return readPages(this.#db, knownSession(this.#db, sessionId), fromSeq);
  }

  fork(sessionId: string, record: SessionRecord): Promise<void> {
    return this.#db.change(() => {
      const source = knownSession(this.#db, sessionId);
      // skip a source without entries of its own
      const isUnchanged = source.lastSeq === source.baseSeq;
      const parent = isUnchanged ? source.parent : source.key;
      addSession(this.#db, forked(recordOf(this.#db, source), record), { parent, baseSeq: source.lastSeq });
    });
  }

  delete(sessionId: string): Promise<void> {
    const deletion = this.#delete(sessionId).finally(() => this.#deletions.delete(deletion));
    this.#deletions.add(deletion);
    return deletion;
  }

  claim(sessionId: string): Promise<void> {
    return this.#db.change(() => claim(this.#db, knownSession(this.#db, sessionId)));
  }

  release(sessionIds: readonly string[]): Promise<void> {
    return this.#db.change(() => {
      for (const sessionId of sessionIds) release(this.#db, sessionId);
    });
  }

  async search(query: string, options: SearchOptions): Promise<SearchHit[]> {
    try {
      while (await this.#db.change(() => indexStep(this.#db)));
    } catch (error) {
      // search the existing index when the disk is full, the file is locked or a page is damaged
      const isKnown = error instanceof RequestError || error instanceof StoreError;
      if (!isKnown || this.isBroken) throw error;
      this.#options.log?.("warn", "the newest messages are not searched", { problem: error.message });
    }
    return searchIndex(this.#db, query, options);
  }

  async verify(): Promise<StoreProblem[]> {
    this.#db.flush();
    const problems: StoreProblem[] = [];
    for (const row of this.#db.all("PRAGMA quick_check")) {
      const problem = String(Object.values(row)[0]);
      if (problem !== "ok") problems.push({ problem });
    }
    for (const { id } of this.#db.all("SELECT id FROM session WHERE id IS NOT NULL ORDER BY key")) {
      const sessionId = String(id);
      try {
        this.get(sessionId);
        for await (const _ of this.pages(sessionId, 1));
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        problems.push({ sessionId, problem: error.message });
      }
    }
    return problems;
  }

  /** Stores queued changes and waits for running deletions. */
  async close(): Promise<void> {
    this.#db.flush();
    await Promise.allSettled(this.#deletions);
    this.#db.close();
  }

  async #delete(sessionId: string): Promise<void> {
    await this.#db.change(() => unlinkSession(this.#db, sessionId));
    while (await this.#db.change(() => pruneStep(this.#db)));
    this.#scrub();
  }

  #readable(row: SessionRow): SessionRecord[] {
    try {
      return [recordOf(this.#db, row)];
    } catch (error) {
      this.#options.log?.("warn", "a damaged session is left out", { sessionId: row.id });
      if (error instanceof StoreError) return [];
      throw error;
    }
  }

  /** Removes deleted data from the log and frees space, as far as other processes allow. */
  #scrub(): void {
    try {
      this.#db.exec(`PRAGMA incremental_vacuum(${vacuumedPages})`);
      this.#db.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // a later checkpoint does the rest
      this.#options.log?.("debug", "the log could not be truncated", { problem: String(error) });
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${this.#options.busyTimeoutMs ?? defaultBusyTimeoutMs}`);
    }
  }
}

/** The limits of one step of a deletion, which takes about ten milliseconds, because FTS5 takes seconds for a long session. */
const stepEntries = 1_000;
const stepMessages = 8;

/**
 * Removes some entries of deleted sessions that no fork needs, inside a change. Returns whether more may be left. After
 * a crash the next deletion removes the rest.
 */
function pruneStep(db: Database): boolean {
  const row = db.get(
    `SELECT key, base_seq, last_seq, (SELECT max(fork.base_seq) FROM session fork WHERE fork.parent = session.key) AS used
       FROM session WHERE id IS NULL AND (used IS NULL OR used < last_seq) LIMIT 1`,
  );
  if (row === undefined) return false;
  const key = Number(row["key"]);
  const kept = Number(row["used"] ?? row["base_seq"]);
  const lastMessages = db.all(
    `SELECT seq FROM message WHERE session = ? AND seq > ? ORDER BY seq DESC LIMIT ${stepMessages}`,
    key,
    kept,
  );
  const firstOfThem = lastMessages.length < stepMessages ? kept + 1 : Number(lastMessages.at(-1)?.["seq"]);
  const last = Math.max(kept, Number(row["last_seq"]) - stepEntries, firstOfThem - 1);
  unindex(db, key, last);
  removeEntries(db, key, last);
  db.run("UPDATE session SET last_seq = ? WHERE key = ?", last, key);
  if (last === kept && row["used"] === null) db.run("DELETE FROM session WHERE key = ?", key);
  return true;
}
