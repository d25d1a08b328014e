// Stores entries as rows, and their long texts as shared blobs; a fork has rows for its own entries only.

import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Entry } from "../../model/entry.ts";
import { upgradeEntry } from "../../model/entry-format.ts";
import { unknownSession } from "../../model/store-rules.ts";
import type { Database, Row } from "./database.ts";
import { type EntryText, entryFromText, type LongText } from "./entry-text.ts";
import { damagedSession, findSession, type SessionRow, sessionByKey } from "./session-rows.ts";
import { StoreError } from "./store-error.ts";

/** At most 64 KiB each, so 8 MiB; long texts are read one by one. */
const pageRows = 128;

/** An entry ready to be stored, computed before the file is locked. */
export interface NewEntry {
  readonly seq: number;
  readonly isSpoken: boolean;
  readonly crc: number;
  readonly body: string;
  readonly blobs: string | null;
  readonly longTexts: readonly { readonly hash: string; readonly text: string }[];
}

export function newEntry({ seq, body, longTexts, isSpoken }: EntryText): NewEntry {
  const hashed = longTexts.map(({ path, text }) => ({ path, text, hash: hashOf(text) }));
  const blobs = hashed.length === 0 ? null : JSON.stringify(hashed.map(({ path, hash }) => [path, hash]));
  return { seq, isSpoken, crc: crc32(body), body, blobs, longTexts: hashed };
}

/** The path of a long text in its entry, and its hash. */
type TextReference = [path: LongText["path"], hash: string];

function hashOf(text: string): string {
  return hash("sha256", text, "hex");
}

export function addEntries(db: Database, key: number, entries: readonly NewEntry[]): void {
  for (const { seq, isSpoken, crc, blobs, body, longTexts } of entries) {
    for (const { hash, text } of longTexts) {
      const { changes } = db.run("UPDATE blob SET uses = uses + 1 WHERE hash = ?", hash);
      if (changes === 0) db.run("INSERT INTO blob (hash, uses, text) VALUES (?, 1, ?)", hash, text);
    }
    db.run(
      "INSERT INTO entry (session, seq, is_spoken, crc, blobs, body) VALUES (?, ?, ?, ?, ?, ?)",
      key,
      seq,
      isSpoken ? 1 : 0,
      crc,
      blobs,
      body,
    );
  }
  db.run("UPDATE session SET last_seq = last_seq + ? WHERE key = ?", entries.length, key);
}

/** Removes the entries after a seq, and long texts that are no longer used. */
export function removeEntries(db: Database, key: number, afterSeq: number): void {
  const rows = db.all(
    "SELECT blobs FROM entry WHERE session = ? AND seq > ? AND blobs IS NOT NULL",
    key,
    afterSeq,
  );
  for (const row of rows) {
    for (const [, hash] of readableReferences(row)) {
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
): AsyncGenerator<readonly Entry[]> {
  for (const { key, from, to } of segmentsOf(db, session)) {
    let next = Math.max(from, fromSeq);
    while (next <= to) {
      const rows = pageOf(db, session, { key, from: next, to });
      if (rows.length === 0) throw endOf(db, session, next);
      const read: Entry[] = [];
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

function pageOf(db: Database, session: SessionRow, { key, from, to }: Segment): Row[] {
  try {
    const lists = db.lists(
      "SELECT seq, crc, blobs, body FROM entry WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
      key,
      from,
      to,
      pageRows,
    );
    return lists.map(([seq = null, crc = null, blobs = null, body = null]) => ({ seq, crc, blobs, body }));
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

function entryOf(db: Database, session: SessionRow, row: Row, expected: number): Entry {
  try {
    if (row["seq"] !== expected) throw new SyntaxError("it is missing");
    const entry = decodeRow(db, row);
    if (entry.seq !== expected) throw new SyntaxError(`it calls itself ${entry.seq}`);
    return upgradeEntry(entry);
  } catch (error) {
    const isDamage =
      error instanceof SyntaxError || (error instanceof StoreError && error.kind === "damaged");
    throw isDamage ? damagedSession(db.path, session.id ?? "", `entry ${expected}`, error) : error;
  }
}

const noLongTexts: readonly LongText[] = [];

/** Throws when the row or one of its long texts is damaged. */
export function decodeRow(db: Database, row: Row): Entry {
  const body = String(row["body"]);
  if (crc32(body) !== row["crc"]) throw new SyntaxError("its checksum is wrong");
  if (row["blobs"] === null) return entryFromText(body, noLongTexts);
  const longTexts = referencesOf(row).map(([path, hash]): LongText => {
    const text = db.get("SELECT text FROM blob WHERE hash = ?", hash)?.["text"];
    if (typeof text !== "string" || hashOf(text) !== hash) throw new SyntaxError("a long text of it is lost");
    return { path, text };
  });
  return entryFromText(body, longTexts);
}

function referencesOf(row: Row): TextReference[] {
  if (row["blobs"] === null) return [];
  const references: unknown = JSON.parse(String(row["blobs"]));
  if (Array.isArray(references) && references.every(isReference)) return references;
  throw new SyntaxError("its list of long texts has another form");
}

function isReference(value: unknown): value is TextReference {
  return Array.isArray(value) && Array.isArray(value[0]) && typeof value[1] === "string";
}

/** Ignores damage, so that damaged sessions can be deleted; long texts of damaged rows stay behind. */
function readableReferences(row: Row): TextReference[] {
  try {
    return referencesOf(row);
  } catch {
    // damaged
    return [];
  }
}
