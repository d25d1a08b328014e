// Store files that vanish with the test, and direct access to them with SQLite.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after } from "node:test";

/** A path in a folder of its own, which is removed when the file's tests are over. */
export function freshPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-store-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "data", "sessions.db");
}

/** Runs SQL on the file as another program would. */
export function withSqlite<T>(path: string, use: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path);
  try {
    return use(db);
  } finally {
    db.close();
  }
}
