// Stores sessions as rows; functions that write are called inside a change.

import type { SQLInputValue } from "node:sqlite";
import { normalPath } from "../../base/normal-path.ts";
import { optional } from "../../base/objects.ts";
import {
  agentSessionExists,
  type ListPosition,
  patched,
  quotedId,
  sessionExists,
  unknownSession,
} from "../../log/store-rules.ts";
import { cursorText, type Epoch, placeOf } from "../../log/store-tail.ts";
import type {
  SessionHead,
  SessionPatch,
  SessionQuery,
  SessionRecord,
  StoredSession,
} from "../../model/store.ts";
import type { Claimant } from "../process-claim.ts";
import type { Database, List } from "./database.ts";
import { StoreError } from "./store-error.ts";

export interface SessionRow {
  readonly key: number;
  readonly id: string | undefined;
  readonly updatedAt: number;
  readonly record: string;
  readonly parent: number | undefined;
  readonly baseSeq: number;
  readonly lastSeq: number;
  readonly epoch: number;
  readonly holder: (Claimant & { readonly since: number }) | undefined;
  /** When the lease ends. Undefined: when the holder's process ends. */
  readonly leaseUntil: number | undefined;
  readonly state: string | undefined;
  readonly position: number | undefined;
}

const columns =
  "key, id, updated_at, record, parent, base_seq, last_seq, epoch, holder_pid, holder_started, holder_since, " +
  "lease_until, state, position";

function sessionRow(row: List): SessionRow {
  const [key, id, updatedAt, record, parent, baseSeq, lastSeq, epoch, pid, started, since, until, ...head] =
    row;
  const [state, position] = head;
  return {
    key: Number(key),
    id: id === null ? undefined : String(id),
    updatedAt: Number(updatedAt),
    record: String(record),
    parent: parent === null ? undefined : Number(parent),
    baseSeq: Number(baseSeq),
    lastSeq: Number(lastSeq),
    epoch: Number(epoch),
    holder:
      pid === null
        ? undefined
        : { pid: Number(pid), started: started === null ? "" : String(started), since: Number(since) },
    leaseUntil: until === null ? undefined : Number(until),
    state: state === null ? undefined : String(state),
    position: position === null ? undefined : Number(position),
  };
}

function sessionWhere(db: Database, condition: string, ...values: SQLInputValue[]): SessionRow | undefined {
  const [row] = db.lists(`SELECT ${columns} FROM session WHERE ${condition}`, ...values);
  return row && sessionRow(row);
}

export function findSession(db: Database, sessionId: string): SessionRow | undefined {
  return sessionWhere(db, "tenant = ? AND id = ?", db.tenant, sessionId);
}

export function sessionByKey(db: Database, key: number): SessionRow | undefined {
  return sessionWhere(db, "key = ?", key);
}

export function sessionOfAgent(db: Database, agent: string, agentSessionId: string): SessionRow | undefined {
  const condition = "tenant = ? AND agent = ? AND agent_session_id = ?";
  return sessionWhere(db, condition, db.tenant, agent, agentSessionId);
}

export function knownSession(db: Database, sessionId: string): SessionRow {
  const row = findSession(db, sessionId);
  if (row === undefined) throw unknownSession(sessionId);
  return row;
}

/** The source of a new session's entries, its first state and its holder. */
export interface NewSession {
  readonly parent: number | undefined;
  readonly baseSeq: number;
  readonly state: string | undefined;
  readonly holder: Claimant;
  readonly since: number;
  readonly leaseUntil: number | undefined;
}

/** Adds a session without entries of its own. Returns the epoch of its first claim, which a trigger has made. */
export function addSession(db: Database, record: SessionRecord, origin: NewSession): number {
  if (findSession(db, record.sessionId) !== undefined) throw sessionExists(record.sessionId);
  checkAgentSession(db, record);
  const { parent = null, baseSeq, state = null, holder, since, leaseUntil = null } = origin;
  const { key } = db.run(
    `INSERT INTO session (tenant, id, cwd, updated_at, archived, record, parent, base_seq, last_seq, indexed_seq,
       open_seq, holder_pid, holder_started, holder_since, lease_until, state)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)`,
    db.tenant,
    record.sessionId,
    normalPath(record.cwd),
    record.updatedAt,
    Number(record.archived === true),
    JSON.stringify(record),
    parent,
    baseSeq,
    baseSeq,
    baseSeq,
    holder.pid,
    holder.started,
    since,
    leaseUntil,
    state,
  );
  const [row] = db.lists("SELECT epoch FROM session WHERE key = ?", key);
  return Number(row?.[0]);
}

function checkAgentSession(db: Database, { sessionId, agent, agentSessionId }: SessionRecord): void {
  if (agent === undefined || agentSessionId === undefined) return;
  const other = sessionOfAgent(db, agent, agentSessionId)?.id;
  if (other !== undefined && other !== sessionId) throw agentSessionExists(other);
}

export function patchSession(db: Database, row: SessionRow, patch: SessionPatch): void {
  const record = patched(recordOf(db, row), patch);
  checkAgentSession(db, record);
  db.run(
    "UPDATE session SET cwd = ?, updated_at = ?, archived = ?, record = ? WHERE key = ?",
    normalPath(record.cwd),
    record.updatedAt,
    Number(record.archived === true),
    JSON.stringify(record),
    row.key,
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

/** The claims of a session under which something was appended, and the last one, in order. */
export function epochsOf(db: Database, key: number): Epoch[] {
  const rows = db.lists("SELECT epoch, nonce, after FROM epoch WHERE session = ? ORDER BY epoch", key);
  return rows.map(([epoch, nonce, after]) => ({
    epoch: Number(epoch),
    nonce: String(nonce),
    after: Number(after),
  }));
}

/** Throws StoreError when the record is damaged. A damaged state counts as none: it can be folded again. */
export function storedSession(db: Database, row: SessionRow): StoredSession {
  const { epoch, lastSeq, position, state } = row;
  const cursor = cursorText(placeOf(epochsOf(db, row.key), lastSeq));
  const head: SessionHead = { epoch, lastSeq, cursor, ...optional({ state: stateOf(state), position }) };
  // older versions kept `settledSeq` there
  const { settledSeq: _, ...record } = recordOf(db, row) as SessionRecord & { readonly settledSeq?: unknown };
  return { ...record, head };
}

export function stateOf(text: string | undefined): SessionHead["state"] {
  if (text === undefined) return undefined;
  try {
    // as: the writer's own JSON
    return JSON.parse(text) as SessionHead["state"];
  } catch {
    return undefined;
  }
}

export function damagedSession(path: string, sessionId: string, what: string, cause: unknown): StoreError {
  const problem = cause instanceof Error ? cause.message : String(cause);
  const message =
    `session ${quotedId(sessionId)} in ${path} is damaged at ${what} (${problem}): other sessions are not affected; ` +
    "delete it, or take it from a backup";
  return new StoreError("damaged", path, message, { cause, sessionId });
}

/** The part of a list to read. */
interface ListedPart {
  readonly query: SessionQuery;
  readonly place: ListPosition | undefined;
  readonly count: number;
}

/** Most recently updated first. */
export function listSessions(db: Database, { query, place, count }: ListedPart): SessionRow[] {
  const { cwd, principal, agent, archived = "exclude" } = query;
  const conditions = ["tenant = ?", "id IS NOT NULL"];
  const values: SQLInputValue[] = [db.tenant];
  const only = (condition: string, ...given: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...given);
  };
  if (cwd !== undefined) only("cwd = ?", normalPath(cwd));
  if (principal !== undefined) only("principal IS ?", principal);
  if (agent !== undefined) only("agent = ?", agent);
  if (archived !== "include") only("archived = ?", Number(archived === "only"));
  if (place !== undefined) only("(updated_at, id) < (?, ?)", place.updatedAt, place.sessionId);
  const where = `${conditions.join(" AND ")} ORDER BY updated_at DESC, id DESC LIMIT ?`;
  return db.lists(`SELECT ${columns} FROM session WHERE ${where}`, ...values, count).map(sessionRow);
}
