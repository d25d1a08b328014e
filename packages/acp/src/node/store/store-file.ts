// Creates, identifies and opens the file of a store.

import { chmodSync, closeSync, existsSync, fchmodSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { applicationId, checkVersion, migrate, schemaVersion } from "./schema.ts";
import { inaccessible, StoreError, unavailable } from "./store-error.ts";
import type { SqliteStoreOptions } from "./store-options.ts";

export const defaultBusyTimeoutMs = 5_000;
/** The write-ahead log is truncated to this size after a checkpoint. */
const keptLogBytes = 16 * 1024 * 1024;

// on macOS fsync alone leaves data in the drive's cache
export const synced = "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON";
export const unsynced = "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = OFF";

/** Opens the file, and creates it if it is missing. Never changes the file of another program. */
export async function openFile(options: SqliteStoreOptions): Promise<DatabaseSync> {
  const path = resolve(options.path);
  if (!existsSync(path)) {
    if (options.create === false) throw missing(path);
    makeFile(path);
  }
  if (!statSync(path).isFile()) throw inaccessible(path, "it is not a file");
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs ?? defaultBusyTimeoutMs}`);
    checkIdentity(db, path);
    chmodSync(path, 0o600);
    prepare(db, path, options);
    await migrate(db, path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function missing(path: string): StoreError {
  const message = `there is no session store at ${path}: check the path, or let the store create the file`;
  return new StoreError("missing", path, message);
}

/** Sets the modes again after the creation, because of the umask. */
function makeFile(path: string): void {
  makeDirectory(dirname(path));
  try {
    const file = openSync(path, "wx", 0o600);
    fchmodSync(file, 0o600);
    closeSync(file);
  } catch (error) {
    // Another process has just made it.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/** Existing directories keep their modes. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, 0o700);
    chmodSync(path, 0o700);
  } catch (error) {
    // Another process has just made it.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

function checkIdentity(db: DatabaseSync, path: string): void {
  const { id, version, tables } = identify(db);
  if (id === applicationId) {
    checkVersion(version, path);
    return;
  }
  if (id === 0 && version === 0 && tables === 0) return;
  const message =
    `${path} is a database of another program (application id ${id}, ${tables} tables and indexes), not a ` +
    "session store: give another path; nothing was changed";
  throw new StoreError("foreign", path, message);
}

/** In one transaction, because another process may be creating the tables. */
function identify(db: DatabaseSync): { id: number; version: number; tables: number } {
  db.exec("BEGIN");
  try {
    return {
      id: Number(db.prepare("PRAGMA application_id").get()?.["application_id"]),
      version: schemaVersion(db),
      tables: Number(db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"]),
    };
  } finally {
    if (db.isTransaction) db.exec("ROLLBACK");
  }
}

function prepare(db: DatabaseSync, path: string, { durability, maxBytes }: SqliteStoreOptions): void {
  // for new files only; lets deletions return pages to the file system
  db.exec("PRAGMA auto_vacuum = INCREMENTAL");
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"];
  if (mode !== "wal") {
    throw inaccessible(path, "its file system has no shared memory, take a local directory");
  }
  db.exec(durability === "full" ? `${synced}; PRAGMA checkpoint_fullfsync = ON` : unsynced);
  db.exec(`PRAGMA journal_size_limit = ${keptLogBytes}; PRAGMA secure_delete = ON`);
  if (maxBytes !== undefined) {
    const pageBytes = Number(db.prepare("PRAGMA page_size").get()?.["page_size"]);
    db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageBytes))}`);
  }
}

/** Distinguishes files with the same name. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export function identityOf(path: string): FileIdentity | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Throws when the file was removed or replaced, because further writes would be lost. */
export function checkSameFile(path: string, opened: FileIdentity | undefined): void {
  const now = identityOf(path);
  if (now?.ino === opened?.ino && now?.dev === opened?.dev) return;
  throw unavailable(
    "the file of the session store was removed or replaced: open the session again",
    "replaced",
  );
}
