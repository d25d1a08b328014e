// Deletes sessions in small steps, because FTS5 takes seconds for a long one.

import type { Database } from "./database.ts";
import { removeEntries } from "./entry-rows.ts";
import { checkFree, findSession } from "./session-rows.ts";
import { unindex } from "./text-index.ts";

/** The limits of one step, which takes about ten milliseconds. */
const stepEntries = 1_000;
const stepMessages = 8;

/** Removes the session's id and record, inside a change. Throws when another process uses the session. */
export function unlinkSession(db: Database, sessionId: string): void {
  const row = findSession(db, sessionId);
  if (row === undefined) return;
  checkFree(row);
  db.run(
    `UPDATE session SET id = NULL, cwd = '', record = '{}', holder_pid = NULL, holder_started = NULL,
       holder_since = NULL WHERE key = ?`,
    row.key,
  );
}

/**
 * Removes some entries of deleted sessions that no fork needs, inside a change. Returns whether more may be left. After
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
