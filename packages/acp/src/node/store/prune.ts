// Removes the entries of deleted sessions, in steps.

import type { Database } from "./database.ts";
import { removeEntries } from "./entry-rows.ts";
import { unindex } from "./text-index.ts";

/** The limits of one step of a deletion. A step takes about ten milliseconds; FTS5 would take seconds for a whole long session. */
const stepEntries = 1_000;
const stepMessages = 8;

/**
 * Removes some entries of deleted sessions that no fork needs. Call it inside a change. Returns whether more may be left. After
 * a crash the next deletion removes the rest.
 */
export function pruneStep(db: Database): boolean {
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
