// A program that knows only version 2.0 of the store. It runs the statements of that version.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { SessionRecord, StoredEntry } from "../../src/model/store.ts";
import { isAlive, thisProcess } from "../../src/node/process-claim.ts";
import { migrations } from "../../src/node/store/migrations.ts";
import { applicationId } from "../../src/node/store/schema.ts";

type Row = Record<string, SQLOutputValue>;

const columns =
  "key, id, updated_at, record, parent, base_seq, last_seq, holder_pid, holder_started, holder_since";

export interface OlderProgram extends Disposable {
  create(record: SessionRecord): void;
  fork(sessionId: string, record: SessionRecord): void;
  /** Throws when another process holds the session. */
  claim(sessionId: string): void;
  release(sessionId: string): void;
  append(sessionId: string, entries: readonly StoredEntry[]): void;
  patch(sessionId: string, patch: object): void;
  delete(sessionId: string): void;
  lastSeq(sessionId: string): number;
  /** The numbers of the entries of a session that is not a fork, and whether their checksums are right. */
  read(sessionId: string): { readonly seqs: number[]; readonly areWhole: boolean };
}

/** Makes a file as an older version made it: 1_000, 1_001 or 2_000. */
export function olderFile(path: string, version: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE");
    for (const step of migrations)
      if (step.version <= version) db.exec(`${step.sql}; PRAGMA user_version = ${step.version}`);
    db.exec(`PRAGMA application_id = ${applicationId}; COMMIT`);
  } finally {
    db.close();
  }
}

export function olderProgram(path: string): OlderProgram {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA busy_timeout = 20000; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON");

  function change<T>(make: () => T): T {
    db.exec("BEGIN IMMEDIATE");
    try {
      const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
      if (Math.floor(version / 1_000) > 2) throw new Error(`format ${version} is too new`);
      const result = make();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }

  function known(sessionId: string): Row {
    const row = db.prepare(`SELECT ${columns} FROM session WHERE id = ?`).get(sessionId);
    if (row === undefined) throw new Error(`there is no session ${sessionId}`);
    return row;
  }

  function holds(row: Row): boolean {
    const { pid, started } = thisProcess();
    return row["holder_pid"] === pid && row["holder_started"] === started;
  }

  function checkFree(row: Row): void {
    const { holder_pid: pid, holder_started: started } = row;
    if (pid === null || holds(row) || !isAlive({ pid: Number(pid), started: String(started ?? "") })) return;
    throw new Error(`session ${row["id"]} is in use by process ${pid}`);
  }

  function add(record: SessionRecord, parent: SQLOutputValue, baseSeq: SQLOutputValue): void {
    const { pid, started } = thisProcess();
    const { sessionId, cwd, updatedAt, archived } = record;
    db.prepare(
      `INSERT INTO session (id, cwd, updated_at, archived, record, parent, base_seq, last_seq, indexed_seq, open_seq,
       holder_pid, holder_started, holder_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`,
    ).run(
      ...[
        sessionId,
        cwd,
        updatedAt,
        Number(archived === true),
        JSON.stringify(record),
        parent,
        baseSeq,
        baseSeq,
      ],
      ...[baseSeq, pid, started, Date.now()],
    );
  }

  const insert = `INSERT INTO entry (session, is_spoken, seq, crc, blobs, body, format, time, kind, tag)
    VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?, ?)`;

  return {
    create: (record) => change(() => add(record, null, 0)),
    fork: (sessionId, record) =>
      change(() => {
        const { key = null, last_seq = null } = known(sessionId);
        add(record, key, last_seq);
      }),
    claim: (sessionId) =>
      change(() => {
        const row = known(sessionId);
        checkFree(row);
        if (holds(row)) return;
        const { pid, started } = thisProcess();
        db.prepare(
          "UPDATE session SET holder_pid = ?, holder_started = ?, holder_since = ? WHERE key = ?",
        ).run(pid, started, Date.now(), row["key"] ?? null);
      }),
    release: (sessionId) =>
      change(() => {
        const { pid, started } = thisProcess();
        db.prepare(
          `UPDATE session SET holder_pid = NULL, holder_started = NULL, holder_since = NULL
             WHERE id = ? AND holder_pid = ? AND holder_started = ?`,
        ).run(sessionId, pid, started);
      }),
    append: (sessionId, entries) =>
      change(() => {
        const row = known(sessionId);
        if (!holds(row)) throw new Error(`session ${sessionId} is not claimed`);
        const { key = null } = row;
        let expected = Number(row["last_seq"]) + 1;
        for (const { format, seq, time, kind, tag = "", text } of entries) {
          if (seq !== expected++) throw new Error(`expected entry ${expected - 1}, got ${seq}`);
          const crc = crc32(`${text} ${format} ${seq} ${time} ${kind} ${tag}`);
          const isSpoken = kind === "prompt" ? 1 : 0;
          db.prepare(insert).run(key, isSpoken, seq, crc, text, format, time, kind, tag === "" ? null : tag);
        }
        db.prepare("UPDATE session SET last_seq = last_seq + ? WHERE key = ?").run(entries.length, key);
      }),
    patch: (sessionId, patch) =>
      change(() => {
        const { key = null, record } = known(sessionId);
        const next: SessionRecord = { ...JSON.parse(String(record)), ...patch };
        db.prepare("UPDATE session SET cwd = ?, updated_at = ?, archived = ?, record = ? WHERE key = ?").run(
          ...[next.cwd, next.updatedAt, Number(next.archived === true), JSON.stringify(next), key],
        );
      }),
    delete: (sessionId) =>
      change(() => {
        const row = known(sessionId);
        checkFree(row);
        const { key = null, base_seq: baseSeq = null } = row;
        db.prepare(
          `UPDATE session SET id = NULL, cwd = '', record = '{}', holder_pid = NULL, holder_started = NULL,
             holder_since = NULL WHERE key = ?`,
        ).run(key);
        db.prepare("DELETE FROM entry WHERE session = ? AND seq > ?").run(key, baseSeq);
        db.prepare("UPDATE session SET last_seq = ? WHERE key = ?").run(baseSeq, key);
        db.prepare("DELETE FROM session WHERE key = ?").run(key);
      }),
    lastSeq: (sessionId) => Number(known(sessionId)["last_seq"]),
    read: (sessionId) => {
      const rows = db
        .prepare(
          `SELECT seq, crc, blobs, body, format, time, kind, tag FROM entry WHERE session = ? AND seq BETWEEN ? AND ?
           ORDER BY seq`,
        )
        .all(known(sessionId)["key"] ?? null, 1, known(sessionId)["last_seq"] ?? null);
      const isWhole = ({ seq, crc, body, format, time, kind, tag }: Row): boolean =>
        crc32(`${body} ${format} ${seq} ${time} ${kind} ${tag ?? ""}`) === crc;
      return { seqs: rows.map(({ seq }) => Number(seq)), areWhole: rows.every(isWhole) };
    },
    [Symbol.dispose]: () => db.close(),
  };
}
