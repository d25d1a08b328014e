import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { claimedSessions } from "../../../test/support/claimed-sessions.ts";
import { freshPath, withSqlite } from "../../../test/support/store-probe.ts";
import {
  collect,
  idsOf,
  promptAt,
  promptsFrom,
  recordIn,
  recordOf,
} from "../../testing/contracts/store-samples.ts";
import { migrations } from "./migrations.ts";
import { migrate } from "./schema.ts";
import { sqliteStore } from "./sqlite-store.ts";

const patience = { timeout: 60_000 };

async function storeWithOneSession(): Promise<string> {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  await sessions.append("a", promptsFrom(1, 3));
  await store.close();
  return path;
}

function foreignFile(content: string | Uint8Array): string {
  const path = freshPath();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** The error names the file and leaves it as it was. */
async function assertRefused(path: string, kind: string, advice: RegExp): Promise<void> {
  const before = readFileSync(path);
  const store = sqliteStore({ path });
  await assert.rejects(store.open(), (error: Error & { kind?: string }) => {
    assert.equal(error.kind, kind, error.message);
    assert.ok(error.message.includes(path), error.message);
    assert.match(error.message, advice);
    return true;
  });
  await assert.rejects(store.list(), { kind });
  await store.close();
  assert.deepEqual(readFileSync(path), before);
}

test("a file that is no database is refused by name", patience, async () => {
  await assertRefused(
    foreignFile("these are my notes\n".repeat(100)),
    "foreign",
    /Move it away or give another/,
  );
  await assertRefused(foreignFile(Buffer.alloc(8_192, 7)), "foreign", /put a backup in its place/);
});

test("a database of another program is refused and not changed", patience, async () => {
  const path = foreignFile("");
  withSqlite(path, (db) => db.exec("CREATE TABLE cookies (name TEXT)"));
  await assertRefused(path, "foreign", /another program .*give another path/);
});

test("an empty file becomes a store", patience, async () => {
  const path = foreignFile("");
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  await store.close();
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("a missing file is an error where the store may not create it", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path, create: false });
  await assert.rejects(store.open(), { kind: "missing", message: new RegExp(`no session store at ${path}`) });
  assert.equal(existsSync(dirname(path)), false);
  await store.close();
});

test("a path that is a directory is an error that names it", patience, async () => {
  const path = freshPath();
  mkdirSync(path, { recursive: true });
  const store = sqliteStore({ path });
  await assert.rejects(store.open(), { kind: "inaccessible", message: new RegExp(`${path} cannot be used`) });
  await store.close();
});

test(
  "a file that was cut short is called damaged, and a backup in its place is used at once",
  patience,
  async () => {
    const path = await storeWithOneSession();
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, 8_192));
    const store = sqliteStore({ path });
    await assert.rejects(collect(store, "a"), (error: Error & { kind?: string }) => {
      assert.equal(error.kind, "damaged");
      assert.ok(error.message.includes(path), error.message);
      assert.match(error.message, /backup/);
      return true;
    });
    await store.close();
    writeFileSync(path, whole);
    const again = sqliteStore({ path });
    assert.equal((await collect(again, "a")).length, 3);
    await again.close();
  },
);

test("a store of a newer minor format is used, of a newer major one refused", patience, async () => {
  const path = await storeWithOneSession();
  withSqlite(path, (db) =>
    db.exec("PRAGMA user_version = 2007; ALTER TABLE session ADD COLUMN colour TEXT DEFAULT 'red'"),
  );
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("b"));
  assert.equal((await store.list()).sessions.length, 2);
  await store.close();
  withSqlite(path, (db) => {
    assert.equal(db.prepare("PRAGMA user_version").get()?.["user_version"], 2_007);
    db.exec("PRAGMA user_version = 3000");
  });
  await assertRefused(path, "newer", /format 3\.0, this program knows 2\.x: update it/);
});

test("a store that becomes a newer major format under us takes no more writes", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  withSqlite(path, (db) => db.exec("PRAGMA user_version = 3000"));
  await assert.rejects(sessions.append("a", [promptAt(1)]), { kind: "newer" });
  withSqlite(path, (db) => db.exec("PRAGMA user_version = 2001"));
  await sessions.append("a", [promptAt(1)]);
  await store.close();
});

test("a migration keeps a backup that only this user can read", patience, async () => {
  const path = await storeWithOneSession();
  const next = { version: 2_002, sql: "ALTER TABLE session ADD COLUMN colour TEXT" };
  const db = new DatabaseSync(path);
  await migrate(db, path, [...migrations, next]);
  db.close();
  const copy = `${path}.v2.1.bak`;
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  const version = (file: string): unknown =>
    withSqlite(file, (opened) => opened.prepare("PRAGMA user_version").get()?.["user_version"]);
  assert.deepEqual([version(path), version(copy)], [2_002, 2_001]);
  for (const file of [path, copy]) {
    const store = sqliteStore({ path: file });
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 3));
    await store.close();
  }
});

test("a file of format 1.0 is migrated, and its sessions can be archived", patience, async () => {
  const path = freshPath();
  mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path);
  await migrate(db, path, migrations.slice(0, 1));
  const record = recordOf("a");
  db.prepare(
    `INSERT INTO session (id, cwd, updated_at, record, base_seq, last_seq, indexed_seq, open_seq)
       VALUES (?, ?, ?, ?, 0, 0, 0, 0)`,
  ).run("a", record.cwd, record.updatedAt, JSON.stringify(record));
  db.close();
  const store = sqliteStore({ path });
  assert.deepEqual(await idsOf(store), ["a"]);
  assert.deepEqual(await recordIn(store, "a"), record);
  await store.patch("a", { archived: true });
  assert.deepEqual(await idsOf(store), []);
  assert.deepEqual(await idsOf(store, { archived: "only" }), ["a"]);
  await store.close();
});

test("a migration that fails changes nothing", patience, async () => {
  const path = await storeWithOneSession();
  const sql = "ALTER TABLE session ADD COLUMN colour TEXT; DELETE FROM entry; CREATE TABLE entry (x)";
  const db = new DatabaseSync(path);
  await assert.rejects(migrate(db, path, [...migrations, { version: 2_002, sql }]), /already exists/);
  db.close();
  const store = sqliteStore({ path });
  assert.deepEqual(await collect(store, "a"), promptsFrom(1, 3));
  await store.close();
  assert.equal(existsSync(`${path}.v2.1.bak.partial`), false);
});

test(
  "a store whose file is removed or replaced does not acknowledge what would be lost",
  patience,
  async () => {
    const path = freshPath();
    const store = sqliteStore({ path });
    const sessions = claimedSessions(store);
    await sessions.create(recordOf("a"));
    renameSync(path, `${path}.moved`);
    await assert.rejects(sessions.append("a", [promptAt(1)]), { code: -32067 });
    // The log of the moved file would be taken for one of the new file's.
    for (const file of ["-wal", "-shm"]) rmSync(path + file, { force: true });
    assert.equal(await store.get("a"), undefined, "a new file was made");
    await sessions.create(recordOf("b"));
    await store.close();
    const again = sqliteStore({ path });
    assert.deepEqual(await idsOf(again), ["b"]);
    await again.close();
  },
);
