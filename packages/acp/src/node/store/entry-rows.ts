// Stores entries as rows, and their long texts as shared blobs; a fork has rows for its own entries only.

import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { isSpoken } from "../../log/message-search.ts";
import type { StoredEntry } from "../../model/store.ts";
import type { Database, List } from "./database.ts";
import { entryFromWhole, type LongText, shortText, wholeText } from "./entry-text.ts";
import type { NewEntry } from "./new-entry.ts";

/** The columns that decodeRow needs, in this order. */
export const entryColumns = "seq, crc, blobs, body, format, time, kind, tag, through";

/** Computes what is stored of an entry. Call it before the file is locked. */
export function prepareEntry(entry: NewEntry, tenant: string): void {
  const { body, longTexts } = shortText(entry.text);
  entry.body = body;
  entry.crc = checksum(entry, body);
  if (longTexts.length === 0) return;
  const hashed = longTexts.map(({ path, text }) => ({ path, text, hash: hashOf(text, tenant) }));
  entry.blobs = JSON.stringify(hashed.map(({ path, hash }) => [path, hash]));
  entry.longTexts = hashed;
}

function checksum(
  { format, seq, time, kind, tag = "", through }: NewEntry | StoredEntry,
  body: string,
): number {
  const more = through === undefined ? "" : ` ${through}`;
  return crc32(`${body} ${format} ${seq} ${time} ${kind} ${tag}${more}`);
}

// one text for all: SQLite's statements are found by it
const insertEntry = `INSERT INTO entry (session, is_spoken, ${entryColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The path of a long text in its entry, and its hash. */
type TextReference = [path: LongText["path"], hash: string];

/** Each tenant has its own hashes, so that no tenant learns anything about the texts of another. */
function hashOf(text: string, tenant: string): string {
  return hash("sha256", tenant === "" ? text : `${tenant}\0${text}`, "hex");
}

/** Call it inside a change. The caller updates the row of the session. */
export function addEntries(db: Database, key: number, entries: readonly NewEntry[]): void {
  for (const entry of entries) {
    for (const { hash, text } of entry.longTexts) {
      const { changes } = db.run("UPDATE blob SET uses = uses + 1 WHERE hash = ?", hash);
      if (changes > 0) continue;
      db.run("INSERT INTO blob (tenant, hash, uses, text) VALUES (?, ?, 1, ?)", db.tenant, hash, text);
    }
    db.run(
      insertEntry,
      key,
      isSpoken(entry) ? 1 : 0,
      entry.seq,
      entry.crc,
      entry.blobs,
      entry.body,
      entry.format,
      entry.time,
      entry.kind,
      entry.tag ?? null,
      entry.through ?? null,
    );
  }
}

/** Whether a session has exactly these entries, as after an append whose answer was lost. */
export function hasEntries(db: Database, key: number, entries: readonly NewEntry[]): boolean {
  const sql = "SELECT crc, blobs, body FROM entry WHERE session = ? AND seq = ?";
  return entries.every(({ seq, crc, blobs, body }) => {
    const [row] = db.lists(sql, key, seq);
    // the checksum covers the other columns
    return row !== undefined && row[0] === crc && row[1] === blobs && row[2] === body;
  });
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

/** Throws when the row or one of its long texts is damaged. */
export function decodeRow(db: Database, row: List): StoredEntry {
  const [seq, crc, blobs, body, format, time, kind, tag, through] = row;
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
  if (through !== null) entry.through = Number(through);
  if (checksum(entry, short) !== crc) throw new SyntaxError("its checksum is wrong");
  if (blobs !== null) entry.text = textOf(db, blobs, short);
  return entry;
}

function textOf(db: Database, blobs: List[number], body: string): string {
  if (blobs === null) return body;
  const longTexts = referencesOf(blobs).map(([path, hash]): LongText => {
    const text = db.get("SELECT text FROM blob WHERE hash = ?", hash)?.["text"];
    if (typeof text !== "string" || hashOf(text, db.tenant) !== hash)
      throw new SyntaxError("a long text of it is lost");
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
