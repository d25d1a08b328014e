// Checks the format of the store and migrates older files.

import { chmodSync, closeSync, openSync, renameSync, rmSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { type Migration, migrations } from "./migrations.ts";
import { StoreError } from "./store-error.ts";

/** "Parl": identifies our files. */
export const applicationId = 0x5061726c;

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
  // A migration rebuilds a table that others refer to. The pragma has no effect inside a transaction.
  db.exec("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE");
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
  } finally {
    db.exec("PRAGMA foreign_keys = ON");
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
