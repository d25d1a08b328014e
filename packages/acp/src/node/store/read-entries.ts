// Reads the entries of a session in pages, forwards and backwards; a fork has rows for its own entries only.

import { setImmediate } from "node:timers/promises";
import { unknownSession, type WantedRange } from "../../log/store-rules.ts";
import type { StoredEntry } from "../../model/store.ts";
import type { Database, List } from "./database.ts";
import { decodeRow, entryColumns } from "./entry-rows.ts";
import { damagedSession, findSession, type SessionRow, sessionByKey } from "./session-rows.ts";
import { StoreError } from "./store-error.ts";

/** A range of entries whose rows belong to one session. */
export interface Segment {
  readonly key: number;
  readonly from: number;
  readonly to: number;
}

/** The segments that hold the entries of a session, in order: those of its sources, then its own. */
export function segmentsOf(db: Database, session: SessionRow): Segment[] {
  const segments: Segment[] = [];
  let row: SessionRow | undefined = session;
  let to = session.lastSeq;
  while (row !== undefined) {
    const from = row.baseSeq + 1;
    if (from <= to) segments.unshift({ key: row.key, from, to });
    to = Math.min(to, row.baseSeq);
    row = row.parent === undefined ? undefined : sessionByKey(db, row.parent);
  }
  return segments;
}

/** Reads page by page up to the last entry at the start, and yields to the event loop in between. */
export async function* readPages(
  db: Database,
  session: SessionRow,
  wanted: WantedRange,
): AsyncGenerator<readonly StoredEntry[]> {
  const segments = segmentsOf(db, session);
  if (wanted.isBackwards) segments.reverse();
  for (const segment of segments) {
    const pages = wanted.isBackwards ? pagesBackwards : pagesForwards;
    yield* pages(db, session, segment, wanted);
  }
}

async function* pagesForwards(
  db: Database,
  session: SessionRow,
  { key, from, to }: Segment,
  wanted: WantedRange,
): AsyncGenerator<readonly StoredEntry[]> {
  const last = Math.min(to, wanted.to);
  let next = from < wanted.from ? startOf(db, key, { from, at: wanted.from }) : from;
  while (next <= last) {
    const sql = "seq BETWEEN ? AND ? ORDER BY seq LIMIT ?";
    const { entries, damage } = pageOf(db, session, next, () =>
      rowsOf(db, key, sql, next, last, wanted.size),
    );
    // yields the entries before the damage, then throws
    if (entries.length > 0) yield entries;
    if (damage !== undefined) throw damage;
    if (entries.length === 0) throw missing(db, session, next);
    next = endOf(entries) + 1;
    await setImmediate();
  }
}

async function* pagesBackwards(
  db: Database,
  session: SessionRow,
  { key, from, to }: Segment,
  wanted: WantedRange,
): AsyncGenerator<readonly StoredEntry[]> {
  const first = from < wanted.from ? startOf(db, key, { from, at: wanted.from }) : from;
  let last = Math.min(to, wanted.to);
  while (first <= last) {
    const sql = "seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT ?";
    const rows = () => rowsOf(db, key, sql, first, last, wanted.size).reverse();
    // undefined: the page begins with whatever entry is found
    const { entries, damage } = pageOf(db, session, undefined, rows);
    if (damage !== undefined) throw damage;
    if (endOf(entries) < last) throw missing(db, session, last);
    yield entries;
    last = (entries[0]?.seq ?? 0) - 1;
    await setImmediate();
  }
}

/** The number of the entry of a segment that has or covers a number. */
function startOf(
  db: Database,
  key: number,
  { from, at }: { readonly from: number; readonly at: number },
): number {
  const sql =
    "SELECT seq, through FROM entry WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT 1";
  const [row] = db.lists(sql, key, from, at);
  const [seq, through] = row ?? [];
  // if the entry is missing, reading begins there and reports the damage
  return row !== undefined && Number(through ?? seq) >= at ? Number(seq) : at;
}

/** The last number of a fork at `seq`: that of the last entry that ends at or before it. */
export function lastEndUpTo(db: Database, session: SessionRow, seq: number): number {
  if (seq >= session.lastSeq) return session.lastSeq;
  const segment = segmentsOf(db, session).find(({ from, to }) => from <= seq && seq <= to);
  if (segment === undefined) return 0;
  const start = startOf(db, segment.key, { from: segment.from, at: seq });
  const [row] = db.lists("SELECT through FROM entry WHERE session = ? AND seq = ?", segment.key, start);
  return Number(row?.[0] ?? start) === seq ? seq : start - 1;
}

/** The entries after a number, at most one page, for `tail`. */
export function entriesAfter(
  db: Database,
  session: SessionRow,
  seq: number,
  size: number,
): readonly StoredEntry[] {
  const segment = segmentsOf(db, session).find(({ to }) => to > seq);
  if (segment === undefined) return [];
  const { key, from, to } = segment;
  const next = Math.max(from, seq + 1);
  const sql = "seq BETWEEN ? AND ? ORDER BY seq LIMIT ?";
  const { entries, damage } = pageOf(db, session, next, () => rowsOf(db, key, sql, next, to, size));
  if (entries.length === 0) throw damage ?? missing(db, session, next);
  return entries;
}

function endOf(entries: readonly StoredEntry[]): number {
  const last = entries.at(-1);
  return last?.through ?? last?.seq ?? 0;
}

function rowsOf(db: Database, key: number, condition: string, ...values: number[]): List[] {
  return db.lists(`SELECT ${entryColumns} FROM entry WHERE session = ? AND ${condition}`, key, ...values);
}

/** The entries of a page up to the first damage, and the damage. */
interface Page {
  readonly entries: readonly StoredEntry[];
  readonly damage: unknown;
}

/** `first` is the number with which the page must begin. Undefined allows any. */
function pageOf(db: Database, session: SessionRow, first: number | undefined, read: () => List[]): Page {
  const entries: StoredEntry[] = [];
  let next = first;
  try {
    const rows = read();
    next ??= Number(rows[0]?.[0]);
    for (const row of rows) {
      const entry = entryOf(db, session, row, next);
      entries.push(entry);
      next = (entry.through ?? entry.seq) + 1;
    }
    return { entries, damage: undefined };
  } catch (error) {
    if (!(error instanceof StoreError && error.kind === "damaged")) throw error;
    if (error.sessionId !== undefined) return { entries, damage: error };
    const damage = damagedSession(
      db.path,
      session.id ?? "",
      `entry ${next ?? session.lastSeq} or later`,
      error.cause,
    );
    return { entries, damage };
  }
}

/** Explains a missing row: the session was deleted meanwhile, or it is damaged. */
function missing(db: Database, session: SessionRow, seq: number): Error {
  const id = session.id ?? "";
  if (findSession(db, id)?.key !== session.key) return unknownSession(id);
  return damagedSession(db.path, id, `entry ${seq}`, "it is missing");
}

function entryOf(db: Database, session: SessionRow, row: List, expected: number): StoredEntry {
  try {
    if (row[0] !== expected) throw new SyntaxError("it is missing");
    const entry = decodeRow(db, row);
    // entries in older rows contain their number
    if (entry.seq !== expected) throw new SyntaxError(`it calls itself ${entry.seq}`);
    return entry;
  } catch (error) {
    const isDamage =
      error instanceof SyntaxError || (error instanceof StoreError && error.kind === "damaged");
    throw isDamage ? damagedSession(db.path, session.id ?? "", `entry ${expected}`, error) : error;
  }
}
