// Stores entries as rows, and their long texts as shared blobs; a fork has rows for its own entries only.

import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { StoredEntry } from "../../model/store.ts";
import { unknownSession } from "../../log/store-rules.ts";
import type { Database, List } from "./database.ts";
import { entryFromWhole, isSpoken, type LongText, shortText, wholeText } from "./entry-text.ts";
import { damagedSession, findSession, type SessionRow, sessionByKey } from "./session-rows.ts";
import { StoreError } from "./store-error.ts";

/** At most 64 KiB each, so 8 MiB; long texts are read one by one. */
const pageRows = 128;

/** The columns that decodeRow needs, in this order. */
export const entryColumns = "seq, crc, blobs, body, format, time, kind, tag";

/** An entry ready to be stored, computed before the file is locked. */
export interface NewEntry {
  readonly entry: StoredEntry;
  readonly crc: number;
  readonly body: string;
  readonly blobs: string | null;
  readonly longTexts: readonly { readonly hash: string; readonly text: string }[];
}

export function newEntry(entry: StoredEntry): NewEntry {
  const { body, longTexts } = shortText(entry.text);
  const crc = checksum(entry, body);
  if (longTexts.length === 0) return { entry, crc, body, blobs: null, longTexts: [] };
  const hashed = longTexts.map(({ path, text }) => ({ path, text, hash: hashOf(text) }));
  const blobs = JSON.stringify(hashed.map(({ path, hash }) => [path, hash]));
  return { entry, crc, body, blobs, longTexts: hashed };
}

function checksum({ format, seq, time, kind, tag = "" }: Omit<StoredEntry, "text">, body: string): number {
  return crc32(`${body} ${format} ${seq} ${time} ${kind} ${tag}`);
}

// one text for all: SQLite's statements are found by it
const insertEntry = `INSERT INTO entry (session, is_spoken, ${entryColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The path of a long text in its entry, and its hash. */
type TextReference = [path: LongText["path"], hash: string];

function hashOf(text: string): string {
  return hash("sha256", text, "hex");
}

export function addEntries(db: Database, key: number, entries: readonly NewEntry[]): void {
  for (const { entry, crc, blobs, body, longTexts } of entries) {
    for (const { hash, text } of longTexts) {
      const { changes } = db.run("UPDATE blob SET uses = uses + 1 WHERE hash = ?", hash);
      if (changes === 0) db.run("INSERT INTO blob (hash, uses, text) VALUES (?, 1, ?)", hash, text);
    }
    db.run(
      insertEntry,
      key,
      isSpoken(entry) ? 1 : 0,
      entry.seq,
      crc,
      blobs,
      body,
      entry.format,
      entry.time,
      entry.kind,
      entry.tag ?? null,
    );
  }
  db.run("UPDATE session SET last_seq = last_seq + ? WHERE key = ?", entries.length, key);
}

/** Removes the entries after a seq, and long texts that are no longer used. */
export function removeEntries(db: Database, key: number, afterSeq: number): void {
  const rows = db.lists(
    "SELECT blobs FROM entry WHERE session = ? AND seq > ? AND blobs IS NOT NULL",
    key,
    afterSeq,
  );
  for (const [blobs] of rows) {
    for (const [, hash] of readableReferences(blobs)) {
      db.run("UPDATE blob SET uses = uses - 1 WHERE hash = ?", hash);
      db.run("DELETE FROM blob WHERE hash = ? AND uses <= 0", hash);
    }
  }
  db.run("DELETE FROM entry WHERE session = ? AND seq > ?", key, afterSeq);
}

export interface Segment {
  readonly key: number;
  readonly from: number;
  readonly to: number;
}

/** The sessions whose rows hold the entries of this one, in order. */
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
  fromSeq: number,
): AsyncGenerator<readonly StoredEntry[]> {
  for (const { key, from, to } of segmentsOf(db, session)) {
    let next = Math.max(from, fromSeq);
    while (next <= to) {
      const rows = pageOf(db, session, { key, from: next, to });
      if (rows.length === 0) throw endOf(db, session, next);
      const read: StoredEntry[] = [];
      try {
        for (const row of rows) {
          read.push(entryOf(db, session, row, next));
          next++;
        }
      } catch (error) {
        // return the entries before the damage first
        yield read;
        throw error;
      }
      yield read;
      await setImmediate();
    }
  }
}

function pageOf(db: Database, session: SessionRow, { key, from, to }: Segment): List[] {
  try {
    return db.lists(
      `SELECT ${entryColumns} FROM entry WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?`,
      key,
      from,
      to,
      pageRows,
    );
  } catch (error) {
    if (!(error instanceof StoreError && error.kind === "damaged")) throw error;
    throw damagedSession(db.path, session.id ?? "", `entry ${from} or later`, error.cause);
  }
}

/** Explains an empty page: the session was deleted meanwhile, or rows are missing. */
function endOf(db: Database, session: SessionRow, seq: number): Error {
  const id = session.id ?? "";
  if (findSession(db, id)?.key !== session.key) return unknownSession(id);
  return damagedSession(db.path, id, `entry ${seq}`, "it is missing");
}

function entryOf(db: Database, session: SessionRow, row: List, expected: number): StoredEntry {
  try {
    if (row[0] !== expected) throw new SyntaxError("it is missing");
    const entry = decodeRow(db, row);
    // in older rows the entry has its own number
    if (entry.seq !== expected) throw new SyntaxError(`it calls itself ${entry.seq}`);
    return entry;
  } catch (error) {
    const isDamage =
      error instanceof SyntaxError || (error instanceof StoreError && error.kind === "damaged");
    throw isDamage ? damagedSession(db.path, session.id ?? "", `entry ${expected}`, error) : error;
  }
}

/** Throws when the row or one of its long texts is damaged. */
export function decodeRow(db: Database, row: List): StoredEntry {
  const [seq, crc, blobs, body, format, time, kind, tag] = row;
  const short = String(body);
  if (kind === null) {
    if (crc32(short) !== crc) throw new SyntaxError("its checksum is wrong");
    return entryFromWhole(textOf(db, blobs, short));
  }
  const entry: { -readonly [Key in keyof StoredEntry]: StoredEntry[Key] } = {
    format: Number(format),
    seq: Number(seq),
    time: Number(time),
    kind: String(kind),
    text: short,
  };
  if (tag !== null) entry.tag = String(tag);
  if (checksum(entry, short) !== crc) throw new SyntaxError("its checksum is wrong");
  if (blobs !== null) entry.text = textOf(db, blobs, short);
  return entry;
}

function textOf(db: Database, blobs: List[number], body: string): string {
  if (blobs === null) return body;
  const longTexts = referencesOf(blobs).map(([path, hash]): LongText => {
    const text = db.get("SELECT text FROM blob WHERE hash = ?", hash)?.["text"];
    if (typeof text !== "string" || hashOf(text) !== hash) throw new SyntaxError("a long text of it is lost");
    return { path, text };
  });
  return wholeText({ body, longTexts });
}

function referencesOf(blobs: List[number]): TextReference[] {
  if (blobs === null) return [];
  const references: unknown = JSON.parse(String(blobs));
  if (Array.isArray(references) && references.every(isReference)) return references;
  throw new SyntaxError("its list of long texts has another form");
}

function isReference(value: unknown): value is TextReference {
  return Array.isArray(value) && Array.isArray(value[0]) && typeof value[1] === "string";
}

/** Ignores damage, so that damaged sessions can be deleted; long texts of damaged rows stay behind. */
function readableReferences(blobs: List[number]): TextReference[] {
  try {
    return referencesOf(blobs);
  } catch {
    // damaged
    return [];
  }
}
