// Implements `tail`, `commands` and `changes`, across processes.

import { rangeOf, readableCursor } from "../../log/store-rules.ts";
import { agreedSeq, cursorText, following, placeOf, Wakers } from "../../log/store-tail.ts";
import type { StoredCommand, TailEvent } from "../../model/store.ts";
import { openCommands } from "./command-rows.ts";
import type { Database } from "./database.ts";
import { FileWatch } from "./file-watch.ts";
import { entriesAfter } from "./read-entries.ts";
import { epochsOf, findSession, knownSession } from "./session-rows.ts";

/** The last rows that were seen in the file. Rows after them were added by another process. */
interface Marks {
  readonly entry: number;
  readonly command: number;
  readonly session: number;
  readonly updatedAt: number;
}

export class StoreFollowers {
  readonly #db: Database;
  readonly #waiting = new Map<string, Wakers>();
  /** What each reader of `changes` has not read yet. */
  readonly #unread = new Set<Set<string>>();
  readonly #moved = new Wakers();
  #marks: Marks | undefined;
  #count = 0;
  #isClosed = false;
  #watch: FileWatch | undefined;
  #version: unknown;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Call it when this process has changed a session. */
  touched(sessionId: string): void {
    this.#waiting.get(sessionId)?.wake();
    if (this.#unread.size > 0) this.#hint([sessionId]);
  }

  /** Wakes all followers, which then find that the store is closed. */
  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wakers of this.#waiting.values()) wakers.wake();
    this.#moved.wake();
  }

  tail(
    sessionId: string,
    cursor: string | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<TailEvent, void> {
    const db = this.#db;
    db.flush();
    const { key } = knownSession(db, sessionId);
    let seq = 0;
    let isChecked = cursor === undefined;
    const deleted = { found: { kind: "deleted" } as const, isOver: true };
    return this.#followed<TailEvent>(
      sessionId,
      () => {
        const row = findSession(db, sessionId);
        if (row?.key !== key) return deleted;
        if (isChecked && row.lastSeq <= seq) return {};
        const epochs = epochsOf(db, key);
        if (!isChecked) {
          const place = readableCursor(cursor ?? "");
          const agreed = agreedSeq(epochs, place, row.lastSeq);
          if (agreed < place.seq)
            return { found: { kind: "gap", cursor: cursorText(placeOf(epochs, agreed)) }, isOver: true };
          seq = place.seq;
          isChecked = true;
          if (row.lastSeq <= seq) return {};
        }
        const { size } = rangeOf({}, row.lastSeq);
        const entries = entriesAfter(db, row, seq, size);
        const last = entries.at(-1);
        seq = last?.through ?? last?.seq ?? seq;
        return { found: { kind: "entries", entries, cursor: cursorText(placeOf(epochs, seq)) } };
      },
      signal,
    );
  }

  commands(
    sessionId: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly StoredCommand[], void> {
    this.#db.flush();
    const { key } = knownSession(this.#db, sessionId);
    let last = 0;
    return this.#followed<readonly StoredCommand[]>(
      sessionId,
      () => {
        const found = openCommands(this.#db, key, last);
        last = found.at(-1)?.number ?? last;
        if (found.length > 0) return { found };
        return findSession(this.#db, sessionId)?.key === key ? {} : { isOver: true };
      },
      signal,
    );
  }

  async *changes(signal: AbortSignal | undefined): AsyncGenerator<readonly string[], void> {
    const ids = new Set<string>();
    this.#marks ??= this.#readMarks();
    this.#unread.add(ids);
    this.#start();
    try {
      const load = async () => {
        // throws when the store is closed
        this.#look();
        const found = [...ids];
        ids.clear();
        return found.length === 0 ? {} : { found };
      };
      yield* following<readonly string[]>(load, (woken) => this.#moved.wait(woken), signal);
    } finally {
      this.#unread.delete(ids);
      if (this.#unread.size === 0) this.#marks = undefined;
      this.#stop();
    }
  }

  async *#followed<Found>(
    sessionId: string,
    load: () => { readonly found?: Found; readonly isOver?: boolean },
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Found, void> {
    const wait = (woken: AbortSignal): Promise<void> => {
      const wakers = this.#waiting.get(sessionId) ?? new Wakers();
      this.#waiting.set(sessionId, wakers);
      return wakers.wait(woken).then(() => {
        if (wakers.isEmpty && this.#waiting.get(sessionId) === wakers) this.#waiting.delete(sessionId);
      });
    };
    this.#start();
    try {
      yield* following<Found>(async () => load(), wait, signal);
    } finally {
      this.#stop();
    }
  }

  /** Watches the file while somebody follows. */
  #start(): void {
    this.#count++;
    if (this.#watch !== undefined || this.#isClosed) return;
    this.#version = this.#db.version;
    this.#watch = new FileWatch(this.#db.path, () => this.#hasNews());
  }

  #stop(): void {
    this.#count--;
    if (this.#count > 0) return;
    this.#watch?.close();
    this.#watch = undefined;
  }

  #hasNews(): boolean {
    try {
      return this.#look();
    } catch {
      // wakes the followers, which then get the error
      this.#wakeAll();
      return true;
    }
  }

  /** Wakes everybody if another connection has stored something. No statement stays open. */
  #look(): boolean {
    const version = this.#db.version;
    if (version === this.#version) return false;
    this.#version = version;
    for (const wakers of this.#waiting.values()) wakers.wake();
    if (this.#marks !== undefined) this.#hint(this.#movedSince(this.#marks));
    return true;
  }

  #hint(ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const unread of this.#unread) for (const id of ids) unread.add(id);
    this.#moved.wake();
  }

  #readMarks(): Marks {
    const [row = []] = this.#db.lists(
      `SELECT (SELECT max(rowid) FROM entry), (SELECT max(rowid) FROM command), (SELECT max(key) FROM session),
         (SELECT max(updated_at) FROM session WHERE tenant = ? AND id IS NOT NULL)`,
      this.#db.tenant,
    );
    const [entry, command, session, updatedAt] = row.map(Number);
    return { entry: entry ?? 0, command: command ?? 0, session: session ?? 0, updatedAt: updatedAt ?? 0 };
  }

  #movedSince({ entry, command, session, updatedAt }: Marks): string[] {
    this.#marks = this.#readMarks();
    const rows = this.#db.lists(
      `SELECT id FROM session WHERE tenant = ?1 AND id IS NOT NULL AND key IN (
         SELECT session FROM entry WHERE rowid > ?2 UNION SELECT session FROM command WHERE rowid > ?3
         UNION SELECT key FROM session WHERE key > ?4
         UNION SELECT key FROM session WHERE tenant = ?1 AND id IS NOT NULL AND updated_at > ?5)`,
      this.#db.tenant,
      entry,
      command,
      session,
      updatedAt,
    );
    return rows.map(([id]) => String(id));
  }
}
