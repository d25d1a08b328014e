// The tables of the store and the migration of older files.

import { chmodSync, closeSync, openSync, renameSync, rmSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { StoreError } from "./store-error.ts";

/** "Parl": identifies our files. */
export const applicationId = 0x5061726c;

/** `user_version` is major * 1000 + minor: older programs may use a newer minor version, but not a newer major one. */
export interface Migration {
  /** The format after the migration. */
  readonly version: number;
  readonly sql: string;
}

/** In order; the first creates the tables in an empty file. */
export const migrations: readonly Migration[] = [
  {
    version: 1_000,
    sql: `
      -- A session that was deleted while forks still use its entries stays as a row without id.
      CREATE TABLE session (
        -- Never used again: the index and open readers go by it.
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT UNIQUE,
        cwd TEXT NOT NULL,
        updated_at REAL NOT NULL,
        record TEXT NOT NULL,
        -- A fork has the entries of its parent up to base_seq, and its own after that.
        parent INTEGER REFERENCES session (key),
        base_seq INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        holder_pid INTEGER,
        holder_started TEXT,
        holder_since INTEGER,
        -- What the full-text index covers, and the message that may still grow.
        indexed_seq INTEGER NOT NULL,
        open_seq INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX session_by_time ON session (updated_at, id) WHERE id IS NOT NULL;
      CREATE INDEX session_by_cwd ON session (cwd, updated_at, id) WHERE id IS NOT NULL;
      CREATE INDEX session_by_parent ON session (parent) WHERE parent IS NOT NULL;

      -- A rowid table with an index: twice as fast to append to as one without rowid, measured over 50 sessions.
      CREATE TABLE entry (
        session INTEGER NOT NULL REFERENCES session (key),
        seq INTEGER NOT NULL,
        is_spoken INTEGER NOT NULL,
        crc INTEGER NOT NULL,
        -- JSON: [path, hash] of each text that is kept in blob.
        blobs TEXT,
        body TEXT NOT NULL,
        PRIMARY KEY (session, seq)
      ) STRICT;

      CREATE TABLE blob (
        hash TEXT PRIMARY KEY,
        uses INTEGER NOT NULL,
        text TEXT NOT NULL
      ) STRICT;

      -- The full-text index has one row per message. Its rowids are never used twice: FTS5 loses its way when
      -- secure-delete is on and one transaction deletes a row and inserts another with the same rowid (SQLite
      -- 3.50 and 3.53, found by its own integrity check).
      CREATE TABLE message (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL REFERENCES session (key),
        -- Of its first entry.
        seq INTEGER NOT NULL,
        UNIQUE (session, seq)
      ) STRICT;
      CREATE VIRTUAL TABLE spoken USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2');
      INSERT INTO spoken (spoken, rank) VALUES ('secure-delete', 1);
    `,
  },
  {
    version: 1_001,
    // a copy of a field of the record, for lists
    sql: "ALTER TABLE session ADD COLUMN archived INTEGER NOT NULL DEFAULT 0",
  },
  {
    // The body of an entry is its text. In rows without a kind, which are older, it is the whole entry.
    version: 2_000,
    sql: `
      ALTER TABLE entry ADD COLUMN format INTEGER;
      ALTER TABLE entry ADD COLUMN time REAL;
      ALTER TABLE entry ADD COLUMN kind TEXT;
      ALTER TABLE entry ADD COLUMN tag TEXT;
    `,
  },
];

export function majorOf(version: number): number {
  return Math.floor(version / 1_000);
}

export function schemaVersion(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
}

/** Throws when the file has a newer major format. */
export function checkVersion(version: number, path: string, known: number = latest(migrations)): void {
  if (majorOf(version) <= majorOf(known)) return;
  const message =
    `the session store ${path} has format ${written(version)}, this program knows ${majorOf(known)}.x: update it, ` +
    "or give it another directory (PARLEY_HOME); nothing was changed";
  throw new StoreError("newer", path, message);
}

/** Migrates the file to the newest format in one transaction, after a backup. */
export async function migrate(
  db: DatabaseSync,
  path: string,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  if (schemaVersion(db) >= latest(steps)) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // another process may have migrated it while this one waited for the lock
    const before = schemaVersion(db);
    if (before > 0 && before < latest(steps)) await keepBackup(path, before);
    for (const { version, sql } of steps) {
      if (version > before) db.exec(`${sql}; PRAGMA user_version = ${version}`);
    }
    db.exec(`PRAGMA application_id = ${applicationId}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Renames the copy when it is complete. Uses a second connection, because SQLite makes no backup through one that is
 * about to write.
 */
async function keepBackup(path: string, version: number): Promise<void> {
  const copy = `${path}.v${written(version)}.bak`;
  const partial = `${copy}.partial`;
  rmSync(partial, { force: true });
  closeSync(openSync(partial, "wx", 0o600));
  const reader = new DatabaseSync(path);
  try {
    chmodSync(partial, 0o600);
    await backup(reader, partial);
    renameSync(partial, copy);
  } finally {
    reader.close();
    rmSync(partial, { force: true });
  }
}

function latest(steps: readonly Migration[]): number {
  return steps.at(-1)?.version ?? 0;
}

function written(version: number): string {
  return `${majorOf(version)}.${version % 1_000}`;
}
