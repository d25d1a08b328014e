import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { claimedSessions } from "../../../test/support/claimed-sessions.ts";
import { freshPath, withSqlite } from "../../../test/support/store-probe.ts";
import { serializeEntry } from "../../model/entry-format.ts";
import type { SessionStore, StoredEntry } from "../../model/store.ts";
import { storeContract } from "../../testing/contracts/store-contract.ts";
import { collect, promptAt, promptsFrom, recordIn, recordOf } from "../../testing/contracts/store-samples.ts";
import { sqliteStore } from "./sqlite-store.ts";

const paths = new WeakMap<SessionStore, string>();

storeContract(
  { test, assert },
  "SQLite store",
  () => {
    const path = freshPath();
    const store = sqliteStore({ path });
    paths.set(store, path);
    return store;
  },
  { reopen: (store) => sqliteStore({ path: paths.get(store) ?? "" }) },
);

const patience = { timeout: 60_000 };

function count(path: string, table: string): unknown {
  return withSqlite(path, (db) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
}

test("sessions, entries and config are there after a restart, in both durabilities", patience, async () => {
  for (const durability of ["normal", "full"] as const) {
    const path = freshPath();
    const first = sqliteStore({ path, durability });
    const firstSessions = claimedSessions(first);
    await firstSessions.create(recordOf("a", { config: { model: "m" } }));
    await firstSessions.append("a", promptsFrom(1, 200));
    await first.close();
    const second = sqliteStore({ path, durability });
    assert.deepEqual(await recordIn(second, "a"), recordOf("a", { config: { model: "m" } }));
    assert.deepEqual(await collect(second, "a"), promptsFrom(1, 200));
    assert.deepEqual(await second.verify(), []);
    await second.close();
  }
});

test("a synced append without new entries syncs what was stored before", patience, async () => {
  const path = freshPath();
  await using store = sqliteStore({ path });
  const claim = await store.create(recordOf("a"));
  const state = { seq: 1, settledSeq: 0, prompts: [], questions: [], config: {} };
  await store.append(claim, 0, [promptAt(1)], { state });
  // SQLite syncs its log exactly when a transaction has written to it
  const size = () => statSync(`${path}-wal`).size;
  for (const [after, entries] of [
    [1, []],
    [0, [promptAt(1)]],
  ] as const) {
    const before = size();
    await store.append(claim, after, entries, { state });
    assert.equal(size(), before);
    await store.append(claim, after, entries, { state, isSynced: true });
    assert.ok(size() > before, `after ${after}`);
  }
  assert.deepEqual(await collect(store, "a"), promptsFrom(1, 1));
});

test("closing releases, so that the next process may claim", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  await store.close();
  const holders = withSqlite(path, (db) => db.prepare("SELECT holder_pid FROM session").all());
  assert.deepEqual(
    holders.map((row) => row["holder_pid"]),
    [null],
  );
});

test("what was asked for before the close is stored", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  const appending = sessions.append("a", [promptAt(1)]);
  await Promise.all([appending, store.close()]);
  assert.equal(count(path, "entry"), 1);
});

test("a deletion that is not awaited is done when the store has closed", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  await sessions.append("a", promptsFrom(1, 5_000));
  await sessions.release("a");
  const deleting = sessions.delete("a");
  await Promise.all([deleting, store.close()]);
  assert.equal(count(path, "session"), 0);
});

test("what a process that died left of a deletion goes with the next one", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  await sessions.append("a", promptsFrom(1, 3_000));
  assert.equal((await store.search("2999")).length, 1);
  withSqlite(path, (db) => db.exec("UPDATE session SET id = NULL"));
  assert.deepEqual(await store.search("2999"), []);
  await sessions.delete("another");
  for (const table of ["session", "entry", "message", "spoken"]) assert.equal(count(path, table), 0, table);
  await store.close();
});

test("a store that was never used makes no file, and closes", patience, async () => {
  const path = freshPath();
  await sqliteStore({ path }).close();
  assert.equal(statSync(path, { throwIfNoEntry: false }), undefined);
});

test("appends of one moment share a transaction, and a lone one waits for nobody", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  const ids = Array.from({ length: 50 }, (_, n) => `s${n}`);
  await Promise.all(ids.map((id) => sessions.create(recordOf(id))));
  const frames = (): number => (statSync(`${path}-wal`).size - 32) / (4_096 + 24);
  const before = frames();
  await Promise.all(ids.map((id) => sessions.append(id, [promptAt(1)])));
  // Each transaction alone would write the pages of the table, its index and the session: 150 frames and more.
  assert.ok(frames() - before < 50, `${frames() - before} frames`);
  await sessions.append("s0", [promptAt(2)]);
  assert.equal(count(path, "entry"), 51);
  await store.close();
});

test("the event loop turns while 20,000 entries are read", patience, async () => {
  const store = sqliteStore({ path: freshPath() });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  await sessions.append("a", promptsFrom(1, 20_000));
  let turns = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; turns++) await setImmediate();
  })();
  let seen = 0;
  for await (const page of store.read("a")) for (const { seq } of page) assert.equal(seq, ++seen);
  isDone = true;
  await counting;
  assert.equal(seen, 20_000);
  assert.ok(turns > 100, `${turns} turns`);
  await store.close();
});

const image = (letter: string): string => letter.repeat(100_000);

function imageAt(seq: number, ...letters: string[]): StoredEntry {
  const prompt = letters.map((letter) => ({ type: "image" as const, mimeType: "i/p", data: image(letter) }));
  return serializeEntry({ format: 1, seq, time: 1, kind: "prompt", messageId: `m${seq}`, prompt });
}

test("equal long texts are kept once, and go with their last user", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  const blobs = (): unknown => count(path, "blob");
  await sessions.create(recordOf("a"));
  await sessions.create(recordOf("b"));
  await sessions.append("a", [imageAt(1, "x", "x", "y"), imageAt(2, "x")]);
  await sessions.append("b", [imageAt(1, "x"), promptAt(2, "z".repeat(70_000))]);
  assert.equal(blobs(), 3);
  await sessions.fork("a", recordOf("c"));
  await sessions.append("c", [imageAt(3, "w")]);
  await sessions.delete("a");
  assert.equal(blobs(), 4);
  assert.deepEqual(await collect(store, "c"), [imageAt(1, "x", "x", "y"), imageAt(2, "x"), imageAt(3, "w")]);
  await sessions.delete("c");
  assert.equal(blobs(), 2);
  assert.deepEqual(await collect(store, "b"), [imageAt(1, "x"), promptAt(2, "z".repeat(70_000))]);
  await sessions.delete("b");
  assert.equal(blobs(), 0);
  for (const table of ["session", "entry", "message", "spoken"]) assert.equal(count(path, table), 0, table);
  await store.close();
});

test("a fork costs the same however long its source is", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  await sessions.append("a", promptsFrom(1, 1_000));
  for (let n = 0; n < 20; n++) await sessions.fork("a", recordOf(`fork ${n}`));
  assert.equal(count(path, "entry"), 1_000);
  assert.equal((await collect(store, "fork 19")).length, 1_000);
  await store.close();
});

test("a deleted session leaves no trace in the files", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("kept"));
  await sessions.append("kept", promptsFrom(1, 50));
  await sessions.create(recordOf("gone", { title: "marzipan title" }));
  await sessions.append("gone", [
    promptAt(1, "marzipan text"),
    promptAt(2, `marzipan ${"long ".repeat(20_000)}`),
  ]);
  assert.equal((await store.search("marzipan")).length, 2);
  const traces = (): string[] =>
    [path, `${path}-wal`].filter((file) => readFileSync(file).includes("marzipan"));
  assert.notDeepEqual(traces(), []);
  await sessions.delete("gone");
  assert.deepEqual(traces(), []);
  assert.deepEqual(await store.search("marzipan"), []);
  assert.equal((await collect(store, "kept")).length, 50);
  await store.close();
});

test("loading the store's module does not load SQLite", patience, () => {
  const loaded = readFileSync(new URL("./sqlite-store.ts", import.meta.url), "utf8");
  const imports = [...loaded.matchAll(/^import (?!type).*from "(.*)";$/gm)].map((match) => match[1]);
  const base = ["../../base/known-options.ts", "../../base/option-keys.gen.ts"];
  // new-entry.ts imports nothing but types
  assert.deepEqual(imports, ["node:path", ...base, "../../jsonrpc/errors.ts", "./new-entry.ts"]);
});

test("a store is a path or options, and is closed when it is disposed of", patience, async () => {
  const path = freshPath();
  {
    await using store = sqliteStore(path);
    const sessions = claimedSessions(store);
    await sessions.create(recordOf("a"));
  }
  const again = sqliteStore({ path });
  const againSessions = claimedSessions(again);
  // the other has let go of it
  await againSessions.claim("a");
  await again[Symbol.asyncDispose]();
  await assert.rejects(again.get("a"), /closed/);
});

test("a path that is empty, relative or no path throws at once", () => {
  for (const path of ["", "sessions.db", "./sessions.db", ":memory:", "/tmp/a\0b", undefined, 7]) {
    const refused = {
      name: "TypeError",
      message: /^sqliteStore: expected the absolute path of a file, got /,
    };
    assert.throws(() => sqliteStore(path as string), refused);
    assert.throws(() => sqliteStore({ path: path as string }), refused);
  }
  assert.throws(() => sqliteStore(":memory:"), /use memoryStore\(\) for a store in memory$/);
  // @ts-expect-error -- the file is named path
  assert.throws(() => sqliteStore({ file: freshPath() }), TypeError);
});
