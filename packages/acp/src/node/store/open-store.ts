// Implements the store on an open file; sqlite-store.ts loads it on first use and reopens it after a lost connection.

import { resolve } from "node:path";
import { RequestError } from "../../jsonrpc/errors.ts";
import {
  checkBatch,
  checkCommand,
  cursorAfter,
  forked,
  forkedState,
  type ListPosition,
  outOfSequence,
  pageSize,
  positionFromCursor,
  rangeOf,
} from "../../log/store-rules.ts";
import type {
  AppendOptions,
  Claim,
  ClaimOptions,
  Command,
  ReadRange,
  SessionPage,
  SessionPatch,
  SessionQuery,
  SessionRecord,
  StoredCommand,
  StoredEntry,
  StoredSession,
} from "../../model/store.ts";
import { seenBy, setSeen, settle, submit } from "./command-rows.ts";
import { Database } from "./database.ts";
import { addEntries, hasEntries, prepareEntry } from "./entry-rows.ts";
import type { NewEntry } from "./new-entry.ts";
import { fillOlderAgents, hasOlderAgents } from "./older-agents.ts";
import { pruneStep } from "./prune.ts";
import { lastEndUpTo, readPages } from "./read-entries.ts";
import { checkHeld, claim, claimOf, holdingFrom, release, renew, unlinkSession } from "./session-claims.ts";
import {
  addSession,
  findSession,
  knownSession,
  listSessions,
  patchSession,
  recordOf,
  type SessionRow,
  sessionByKey,
  sessionOfAgent,
  stateOf,
  storedSession,
} from "./session-rows.ts";
import { StoreError, translated } from "./store-error.ts";
import { defaultBusyTimeoutMs, openFile } from "./store-file.ts";
import { StoreFollowers } from "./store-followers.ts";
import type { SearchHit, SearchOptions, SqliteStoreOptions, StoreProblem } from "./store-options.ts";
import { indexStep, matchesOf, matchIn, searchIndex } from "./text-index.ts";

/** Pages to return to the file system after a deletion, in a few milliseconds. */
const vacuumedPages = 2_000;

/** The number of rows that a list by text reads at a time. */
const rowsByText = 200;

export async function openStore(options: SqliteStoreOptions): Promise<OpenStore> {
  const path = resolve(options.path);
  const { tenant = "", durability } = options;
  try {
    const use = { path, tenant, isSynced: durability === "full" };
    const db = new Database(await openFile(options), use);
    await fillAgents(db, options);
    return new OpenStore(db, options);
  } catch (error) {
    throw translated(error, path);
  }
}

/** If the disk is full or another process writes, they are filled in the next time. */
async function fillAgents(db: Database, { log }: SqliteStoreOptions): Promise<void> {
  if (!hasOlderAgents(db)) return;
  try {
    await db.change(() => fillOlderAgents(db));
  } catch (error) {
    if (db.isBroken) throw error;
    log?.("warn", "sessions of an older version are not found by their agent", { problem: String(error) });
  }
}

export class OpenStore {
  readonly followers: StoreFollowers;
  readonly #db: Database;
  readonly #options: SqliteStoreOptions;
  readonly #deletions = new Set<Promise<void>>();

  constructor(db: Database, options: SqliteStoreOptions) {
    this.#db = db;
    this.#options = options;
    this.followers = new StoreFollowers(db);
  }

  get isBroken(): boolean {
    return this.#db.isBroken;
  }

  create(record: SessionRecord, options: ClaimOptions): Promise<Claim> {
    const origin = { parent: undefined, baseSeq: 0, state: undefined };
    return this.#touching(record.sessionId, () => this.#add(record, origin, options));
  }

  get(sessionId: string): StoredSession | undefined {
    this.#db.flush();
    const row = findSession(this.#db, sessionId);
    return row && storedSession(this.#db, row);
  }

  find(agent: string, agentSessionId: string): StoredSession | undefined {
    this.#db.flush();
    const row = sessionOfAgent(this.#db, agent, agentSessionId);
    return row && storedSession(this.#db, row);
  }

  patch(sessionId: string, patch: SessionPatch): Promise<void> {
    return this.#touching(sessionId, () => patchSession(this.#db, knownSession(this.#db, sessionId), patch));
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    const place = positionFromCursor(query);
    const size = pageSize(query);
    if (query.text !== undefined) return this.#listByText(query, query.text, { place, size });
    this.#db.flush();
    const rows = listSessions(this.#db, { query, place, count: size + 1 });
    const page = rows.slice(0, size);
    const sessions = page.flatMap((row) => this.#readable(row));
    const last = page.at(-1);
    if (last?.id === undefined || rows.length <= size) return { sessions };
    return { sessions, nextCursor: cursorAfter({ updatedAt: last.updatedAt, sessionId: last.id }, query) };
  }

  append(own: Claim, after: number, entries: readonly NewEntry[], options: AppendOptions): Promise<void> {
    const db = this.#db;
    const { sessionId } = own;
    const { state, settles = [], position, isSynced } = options;
    for (const entry of entries) prepareEntry(entry, db.tenant);
    const last = entries.at(-1);
    const text = state === undefined ? null : JSON.stringify(state);
    const change = (): void => {
      const row = checkHeld(db, own);
      checkBatch(sessionId, after, entries);
      const isRepeated = row.lastSeq !== after;
      if (isRepeated && (last === undefined || !hasEntries(db, row.key, entries)))
        throw outOfSequence(sessionId, row.lastSeq, after);
      // what is stored already may not be synced
      if (isSynced && (isRepeated || last === undefined)) db.touch();
      if (isRepeated) return;
      addEntries(db, row.key, entries);
      db.run(
        "UPDATE session SET last_seq = ?, state = coalesce(?, state), position = coalesce(?, position) WHERE key = ?",
        last?.through ?? last?.seq ?? after,
        text,
        position ?? null,
        row.key,
      );
      settle(db, row.key, settles);
    };
    return this.#touching(sessionId, change, isSynced);
  }

  read(sessionId: string, range: ReadRange): AsyncGenerator<readonly StoredEntry[]> {
    this.#db.flush();
    const row = knownSession(this.#db, sessionId);
    return readPages(this.#db, row, rangeOf(range, row.lastSeq));
  }

  fork(
    sessionId: string,
    record: SessionRecord,
    options: ClaimOptions & { readonly atSeq?: number | undefined },
  ): Promise<Claim> {
    return this.#touching(record.sessionId, () => {
      const source = knownSession(this.#db, sessionId);
      const baseSeq = lastEndUpTo(this.#db, source, options.atSeq ?? source.lastSeq);
      // skips sources that have no entries of their own up to `baseSeq`
      let parent: SessionRow | undefined = source;
      while (parent !== undefined && baseSeq <= parent.baseSeq)
        parent = parent.parent === undefined ? undefined : sessionByKey(this.#db, parent.parent);
      const whole = baseSeq === source.lastSeq ? stateOf(source.state) : undefined;
      const begun = forkedState(whole, baseSeq);
      const state = begun && JSON.stringify(begun);
      const origin = { parent: parent?.key, baseSeq, state };
      return this.#add(forked(recordOf(this.#db, source), record), origin, options);
    });
  }

  delete(sessionId: string, own: Claim | undefined): Promise<void> {
    const deletion = this.#delete(sessionId, own).finally(() => this.#deletions.delete(deletion));
    this.#deletions.add(deletion);
    return deletion;
  }

  claim(sessionId: string, options: ClaimOptions): Promise<Claim> {
    return this.#db.change(() => claim(this.#db, knownSession(this.#db, sessionId), options));
  }

  renew(own: Claim, leaseMs: number): Promise<Claim> {
    return this.#db.change(() => renew(this.#db, own, leaseMs));
  }

  release(claims: readonly Claim[]): Promise<void> {
    return this.#db.change(() => {
      for (const own of claims) release(this.#db, own);
    });
  }

  async submit(
    sessionId: string,
    command: Command,
    check: ((session: StoredSession) => void) | undefined,
  ): Promise<StoredCommand> {
    checkCommand(command);
    const submitted = await this.#db.change(() =>
      submit(this.#db, knownSession(this.#db, sessionId), command, check),
    );
    if ("refusal" in submitted) throw submitted.refusal;
    if (submitted.isNew) this.followers.touched(sessionId);
    return submitted.command;
  }

  async seen(sessionId: string, principal: string, seq: number | undefined): Promise<number> {
    if (seq === undefined) {
      this.#db.flush();
      return seenBy(this.#db, knownSession(this.#db, sessionId).key, principal);
    }
    return this.#db.change(() => {
      const { key, lastSeq } = knownSession(this.#db, sessionId);
      setSeen(this.#db, key, principal, Math.min(seq, lastSeq));
      return seenBy(this.#db, key, principal);
    });
  }

  async search(query: string, options: SearchOptions): Promise<SearchHit[]> {
    await this.#index();
    return searchIndex(this.#db, query, options);
  }

  async verify(): Promise<StoreProblem[]> {
    this.#db.flush();
    const problems: StoreProblem[] = [];
    for (const row of this.#db.all("PRAGMA quick_check")) {
      const problem = String(Object.values(row)[0]);
      if (problem !== "ok") problems.push({ problem });
    }
    const ids = "SELECT id FROM session WHERE tenant = ? AND id IS NOT NULL ORDER BY key";
    for (const [id] of this.#db.lists(ids, this.#db.tenant)) {
      const sessionId = String(id);
      try {
        this.get(sessionId);
        for await (const _ of this.read(sessionId, {}));
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
    this.followers.close();
  }

  /** Changes a session, and tells those who follow it. */
  async #touching<T>(sessionId: string, make: () => T, isSynced?: boolean): Promise<T> {
    const result = await this.#db.change(make, isSynced);
    this.followers.touched(sessionId);
    return result;
  }

  #add(
    record: SessionRecord,
    origin: {
      readonly parent: number | undefined;
      readonly baseSeq: number;
      readonly state: string | undefined;
    },
    { leaseMs }: ClaimOptions,
  ): Claim {
    const holding = holdingFrom(Date.now(), leaseMs);
    const epoch = addSession(this.#db, record, { ...origin, ...holding });
    return claimOf(record.sessionId, epoch, holding.leaseUntil);
  }

  async #listByText(
    query: SessionQuery,
    text: string,
    { place: start, size }: { readonly place: ListPosition | undefined; readonly size: number },
  ): Promise<SessionPage> {
    await this.#index();
    const matches = matchesOf(this.#db, text);
    const sessions: StoredSession[] = [];
    let place = start;
    let rows = matches === undefined ? [] : listSessions(this.#db, { query, place, count: rowsByText });
    for (; matches !== undefined && rows.length > 0; ) {
      for (const row of rows) {
        const match = matchIn(this.#db, matches, text, row);
        if (match === undefined) continue;
        if (sessions.length === size && place !== undefined)
          return { sessions, nextCursor: cursorAfter(place, query) };
        sessions.push(...this.#readable(row).map((session) => ({ ...session, match })));
        place = { updatedAt: row.updatedAt, sessionId: row.id ?? "" };
      }
      const last = rows.at(-1);
      const next = { updatedAt: last?.updatedAt ?? 0, sessionId: last?.id ?? "" };
      rows =
        rows.length < rowsByText ? [] : listSessions(this.#db, { query, place: next, count: rowsByText });
    }
    return { sessions };
  }

  async #index(): Promise<void> {
    try {
      while (await this.#db.change(() => indexStep(this.#db)));
    } catch (error) {
      // search the existing index when the disk is full, the file is locked or a page is damaged
      const isKnown = error instanceof RequestError || error instanceof StoreError;
      if (!isKnown || this.isBroken) throw error;
      this.#options.log?.("warn", "the newest messages are not searched", { problem: error.message });
    }
  }

  async #delete(sessionId: string, own: Claim | undefined): Promise<void> {
    await this.#touching(sessionId, () => unlinkSession(this.#db, sessionId, own));
    while (await this.#db.change(() => pruneStep(this.#db)));
    this.#scrub();
  }

  #readable(row: SessionRow): StoredSession[] {
    try {
      return [storedSession(this.#db, row)];
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
