// Stores sessions as rows; functions that write are called inside a change.

import { normalPath } from "../../base/normal-path.ts";
import type { SessionQuery, SessionRecord } from "../../model/store.ts";
import {
  heldElsewhere,
  type ListPosition,
  notClaimed,
  quotedId,
  sessionExists,
  unknownSession,
} from "../../log/store-rules.ts";
import { type Claimant, isAlive, thisProcess } from "../process-claim.ts";
import type { Database, Row } from "./database.ts";
import { StoreError } from "./store-error.ts";

export interface SessionRow {
  readonly key: number;
  readonly id: string | undefined;
  readonly updatedAt: number;
  readonly record: string;
  readonly parent: number | undefined;
  readonly baseSeq: number;
  readonly lastSeq: number;
  readonly holder: (Claimant & { readonly since: number }) | undefined;
}

const columns =
  "key, id, updated_at, record, parent, base_seq, last_seq, holder_pid, holder_started, holder_since";

function sessionRow(row: Row): SessionRow {
  const text = (name: string) => (row[name] === null ? undefined : String(row[name]));
  const pid = row["holder_pid"];
  return {
    key: Number(row["key"]),
    id: text("id"),
    updatedAt: Number(row["updated_at"]),
    record: String(row["record"]),
    parent: row["parent"] === null ? undefined : Number(row["parent"]),
    baseSeq: Number(row["base_seq"]),
    lastSeq: Number(row["last_seq"]),
    holder:
      pid === null
        ? undefined
        : { pid: Number(pid), started: text("holder_started") ?? "", since: Number(row["holder_since"]) },
  };
}

export function findSession(db: Database, sessionId: string): SessionRow | undefined {
  const row = db.get(`SELECT ${columns} FROM session WHERE id = ?`, sessionId);
  return row && sessionRow(row);
}

export function sessionByKey(db: Database, key: number): SessionRow | undefined {
  const row = db.get(`SELECT ${columns} FROM session WHERE key = ?`, key);
  return row && sessionRow(row);
}

export function knownSession(db: Database, sessionId: string): SessionRow {
  const row = findSession(db, sessionId);
  if (row === undefined) throw unknownSession(sessionId);
  return row;
}

/** Adds a session without entries, held by this process; a fork has those of its origin. */
export function addSession(
  db: Database,
  record: SessionRecord,
  origin: { readonly parent: number | undefined; readonly baseSeq: number },
): void {
  if (findSession(db, record.sessionId) !== undefined) throw sessionExists(record.sessionId);
  const { pid, started } = thisProcess();
  const { parent = null, baseSeq } = origin;
  db.run(
    `INSERT INTO session (id, cwd, updated_at, archived, record, parent, base_seq, last_seq, indexed_seq, open_seq,
       holder_pid, holder_started, holder_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`,
    record.sessionId,
    normalPath(record.cwd),
    record.updatedAt,
    Number(record.archived === true),
    JSON.stringify(record),
    parent,
    baseSeq,
    baseSeq,
    baseSeq,
    pid,
    started,
    Date.now(),
  );
}

export function storeRecord(db: Database, key: number, record: SessionRecord): void {
  const text = JSON.stringify(record);
  db.run(
    "UPDATE session SET cwd = ?, updated_at = ?, archived = ?, record = ? WHERE key = ?",
    normalPath(record.cwd),
    record.updatedAt,
    Number(record.archived === true),
    text,
    key,
  );
}

/** Throws StoreError when the record is damaged. */
export function recordOf(db: Database, { id = "", record }: SessionRow): SessionRecord {
  try {
    const value: unknown = JSON.parse(record);
    if (typeof value === "object" && value !== null && "sessionId" in value && value.sessionId === id) {
      // as: our own text, checked by its form
      return value as SessionRecord;
    }
    throw new SyntaxError("it is not the record of this session");
  } catch (error) {
    throw damagedSession(db.path, id, "its record", error);
  }
}

export function damagedSession(path: string, sessionId: string, what: string, cause: unknown): StoreError {
  const problem = cause instanceof Error ? cause.message : String(cause);
  const message =
    `session ${quotedId(sessionId)} in ${path} is damaged at ${what} (${problem}): other sessions are not affected; ` +
    "delete it, or take it from a backup";
  return new StoreError("damaged", path, message, { cause, sessionId });
}

/** Most recently updated first. */
export function listSessions(
  db: Database,
  {
    query,
    place,
    count,
  }: { readonly query: SessionQuery; readonly place: ListPosition | undefined; readonly count: number },
): SessionRow[] {
  const { cwd, archived = "exclude" } = query;
  const conditions = ["id IS NOT NULL"];
  const values: (string | number)[] = [];
  if (cwd !== undefined) {
    conditions.push("cwd = ?");
    values.push(normalPath(cwd));
  }
  if (archived !== "include") {
    conditions.push("archived = ?");
    values.push(Number(archived === "only"));
  }
  if (place !== undefined) {
    conditions.push("(updated_at, id) < (?, ?)");
    values.push(place.updatedAt, place.sessionId);
  }
  const sql = `SELECT ${columns} FROM session WHERE ${conditions.join(" AND ")} ORDER BY updated_at DESC, id DESC LIMIT ?`;
  return db.all(sql, ...values, count).map(sessionRow);
}

/** Throws when another live process holds the session. */
function checkFree(row: SessionRow): void {
  const { holder, id = "" } = row;
  if (holder === undefined || isSame(holder, thisProcess()) || !isAlive(holder)) return;
  throw heldElsewhere(id, holder);
}

export function checkHeldHere(row: SessionRow): void {
  if (row.holder !== undefined && isSame(row.holder, thisProcess())) return;
  checkFree(row);
  throw notClaimed(row.id ?? "");
}

export function claim(db: Database, row: SessionRow): void {
  checkFree(row);
  const { pid, started } = thisProcess();
  if (row.holder !== undefined && isSame(row.holder, thisProcess())) return;
  db.run(
    "UPDATE session SET holder_pid = ?, holder_started = ?, holder_since = ? WHERE key = ?",
    pid,
    started,
    Date.now(),
    row.key,
  );
}

export function release(db: Database, sessionId: string): void {
  const { pid, started } = thisProcess();
  db.run(
    `UPDATE session SET holder_pid = NULL, holder_started = NULL, holder_since = NULL
       WHERE id = ? AND holder_pid = ? AND holder_started = ?`,
    sessionId,
    pid,
    started,
  );
}

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

export function isSame(one: Claimant, other: Claimant): boolean {
  return one.pid === other.pid && one.started === other.started;
}
