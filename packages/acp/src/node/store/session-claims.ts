// Claims of sessions. The epoch alone decides who may append. Call functions that write inside `Database.change`.

import { randomBytes } from "node:crypto";
import { fenced, heldElsewhere, unknownSession } from "../../log/store-rules.ts";
import type { Claim, ClaimOptions } from "../../model/store.ts";
import { isAlive, thisProcess } from "../process-claim.ts";
import type { Database } from "./database.ts";
import { findSession, type NewSession, type SessionRow } from "./session-rows.ts";

/** The part of a new session that says who holds it. */
type Holding = Pick<NewSession, "holder" | "since" | "leaseUntil">;

/** The claim of this process from now on. */
export function holdingFrom(now: number, leaseMs: number | undefined): Holding {
  return { holder: thisProcess(), since: now, leaseUntil: leaseMs === undefined ? undefined : now + leaseMs };
}

/** Gives the session a new epoch. Throws if somebody holds it, unless `takeOver` is set. */
export function claim(db: Database, row: SessionRow, { leaseMs, takeOver = false }: ClaimOptions): Claim {
  if (!takeOver) checkFree(row);
  const { key, id = "", lastSeq } = row;
  const { holder, since, leaseUntil } = holdingFrom(Date.now(), leaseMs);
  // removes the rows of claims under which nothing was appended
  db.run("DELETE FROM epoch WHERE session = ? AND after = ?", key, lastSeq);
  const nonce = randomBytes(4).toString("hex");
  const { key: epoch } = db.run(
    "INSERT INTO epoch (session, nonce, after) VALUES (?, ?, ?)",
    key,
    nonce,
    lastSeq,
  );
  // in one statement, because the triggers for older programs depend on it
  db.run(
    `UPDATE session SET epoch = ?, holder_pid = ?, holder_started = ?, holder_since = ?, lease_until = ?
       WHERE key = ?`,
    epoch,
    holder.pid,
    holder.started,
    since,
    leaseUntil ?? null,
    key,
  );
  return claimOf(id, epoch, leaseUntil);
}

export function claimOf(sessionId: string, epoch: number, until: number | undefined): Claim {
  return { sessionId, epoch, ...(until === undefined ? {} : { until }) };
}

/** Throws if the session is held under another claim than `own`. */
export function checkFree({ id = "", epoch, holder, leaseUntil }: SessionRow, own?: Claim): void {
  if (holder === undefined || epoch === own?.epoch) return;
  const isHeld = leaseUntil === undefined ? isAlive(holder) : leaseUntil > Date.now();
  if (!isHeld) return;
  const { since, ...process } = holder;
  throw heldElsewhere(id, isSame(process, thisProcess()) ? { since } : { since, pid: process.pid });
}

function isSame(one: { pid: number; started: string }, other: { pid: number; started: string }): boolean {
  return one.pid === other.pid && one.started === other.started;
}

/** Throws if the session was claimed again, or released. */
export function checkHeld(db: Database, { sessionId, epoch }: Claim): SessionRow {
  const row = findSession(db, sessionId);
  if (row === undefined) throw unknownSession(sessionId);
  if (row.epoch !== epoch || row.holder === undefined) throw fenced(sessionId);
  return row;
}

export function renew(db: Database, claim: Claim, leaseMs: number): Claim {
  const { key } = checkHeld(db, claim);
  const until = Date.now() + leaseMs;
  db.run("UPDATE session SET lease_until = ? WHERE key = ?", until, key);
  return { ...claim, until };
}

export function release(db: Database, { sessionId, epoch }: Claim): void {
  db.run(
    `UPDATE session SET holder_pid = NULL, holder_started = NULL, holder_since = NULL, lease_until = NULL
       WHERE tenant = ? AND id = ? AND epoch = ?`,
    db.tenant,
    sessionId,
    epoch,
  );
}

/** Removes the session's id and record. Throws if the session is held under another claim than `own`. */
export function unlinkSession(db: Database, sessionId: string, own: Claim | undefined): void {
  const row = findSession(db, sessionId);
  if (row === undefined) return;
  checkFree(row, own);
  db.run(
    `UPDATE session SET id = NULL, cwd = '', record = '{}', holder_pid = NULL, holder_started = NULL,
       holder_since = NULL WHERE key = ?`,
    row.key,
  );
}
