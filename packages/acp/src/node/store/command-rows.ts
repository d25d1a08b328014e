// Stores commands, their outcomes, and how far principals have read. Call functions that write inside `Database.change`.

import { isSameJson, keyReused } from "../../log/store-rules.ts";
import type { Command, SettledCommand, StoredCommand, StoredSession } from "../../model/store.ts";
import type { Database, List } from "./database.ts";
import { type SessionRow, storedSession } from "./session-rows.ts";

const columns = "number, time, key, principal, body, outcome";

/** Commands per page. */
const pageRows = 128;

function storedCommand([number, time, key, principal, body, outcome]: List): StoredCommand {
  return {
    number: Number(number),
    time: Number(time),
    key: String(key),
    ...(principal === null ? {} : { principal: String(principal) }),
    // as: our own JSON
    body: JSON.parse(String(body)) as StoredCommand["body"],
    ...(outcome === null ? {} : { outcome: JSON.parse(String(outcome)) as StoredCommand["body"] }),
  };
}

/** The stored command, or the error that the check threw. */
type Submitted = { readonly command: StoredCommand; readonly isNew: boolean } | { readonly refusal: unknown };

/** Stores the command unless it is there already. Returns the error of the check: throwing it would end the transaction of others. */
export function submit(
  db: Database,
  session: SessionRow,
  { key, principal, body }: Command,
  check: ((session: StoredSession) => void) | undefined,
): Submitted {
  const known = db.lists(
    `SELECT ${columns} FROM command WHERE session = ? AND key = ? AND principal IS ?`,
    session.key,
    key,
    principal ?? null,
  );
  if (known[0] !== undefined) {
    const command = storedCommand(known[0]);
    if (!isSameJson(command.body, body)) throw keyReused(key);
    return { command, isNew: false };
  }
  if (check !== undefined) {
    const stored = storedSession(db, session);
    try {
      check(stored);
    } catch (refusal) {
      return { refusal };
    }
  }
  const [last] = db.lists("SELECT coalesce(max(number), 0) FROM command WHERE session = ?", session.key);
  const number = Number(last?.[0]) + 1;
  const time = Date.now();
  db.run(
    "INSERT INTO command (session, number, time, key, principal, body) VALUES (?, ?, ?, ?, ?, ?)",
    session.key,
    number,
    time,
    key,
    principal ?? null,
    JSON.stringify(body),
  );
  const command = { number, time, key, ...(principal === undefined ? {} : { principal }), body };
  return { command, isNew: true };
}

/** The first outcome of a command stays. */
export function settle(db: Database, key: number, settled: readonly SettledCommand[]): void {
  for (const { number, outcome } of settled)
    db.run(
      "UPDATE command SET outcome = ? WHERE session = ? AND number = ? AND outcome IS NULL",
      JSON.stringify(outcome),
      key,
      number,
    );
}

/** The next commands that are not settled, in order. */
export function openCommands(db: Database, key: number, after: number): StoredCommand[] {
  const rows = db.lists(
    `SELECT ${columns} FROM command WHERE session = ? AND number > ? AND outcome IS NULL ORDER BY number LIMIT ${pageRows}`,
    key,
    after,
  );
  return rows.map(storedCommand);
}

/** How far a principal has read. */
export function seenBy(db: Database, key: number, principal: string): number {
  const [row] = db.lists("SELECT seq FROM seen WHERE session = ? AND principal = ?", key, principal);
  return Number(row?.[0] ?? 0);
}

export function setSeen(db: Database, key: number, principal: string, seq: number): void {
  const sql =
    "INSERT INTO seen (session, principal, seq) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)";
  db.run(sql, key, principal, seq);
}
