import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { olderFile, olderProgram } from "../../../test/support/older-program.ts";
import { freshPath, withSqlite } from "../../../test/support/store-probe.ts";
import { storeProcess } from "../../../test/support/store-process.ts";
import {
  collect,
  entriesFrom,
  idsOf,
  promptAt,
  promptsFrom,
  reasonOf,
  recordIn,
  recordOf,
  writerOf,
} from "../../testing/contracts/store-samples.ts";
import { sqliteStore } from "./sqlite-store.ts";

const patience = { timeout: 240_000 };

test(
  "a file that version 1.0 wrote keeps its entries, and new ones continue its numbers",
  patience,
  async () => {
    const path = freshPath();
    olderFile(path, 1_000);
    const record = recordOf("a", { title: "old", principal: "ada" });
    withSqlite(path, (db) => {
      db.prepare(
        `INSERT INTO session (id, cwd, updated_at, record, base_seq, last_seq, indexed_seq, open_seq)
         VALUES ('a', ?, ?, ?, 0, 2, 0, 0)`,
      ).run(record.cwd, record.updatedAt, JSON.stringify(record));
      for (const seq of [1, 2]) {
        const { text, tag: _, ...entry } = promptAt(seq);
        const body = JSON.stringify({ ...entry, ...JSON.parse(text) });
        db.prepare("INSERT INTO entry (session, seq, is_spoken, crc, body) VALUES (1, ?, 1, ?, ?)").run(
          ...[seq, crc32(body), body],
        );
      }
    });
    const store = sqliteStore({ path });
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 2));
    assert.deepEqual(await recordIn(store, "a"), record);
    assert.deepEqual(await idsOf(store, { principal: "ada", text: "prompt 2" }), ["a"]);
    await writerOf(store, await store.claim("a")).append([promptAt(3)]);
    assert.deepEqual(await collect(store, "a"), promptsFrom(1, 3));
    assert.deepEqual(await store.verify(), []);
    await store.close();
    assert.ok(existsSync(`${path}.v1.0.bak`));
  },
);

test("a file that version 2.0 wrote keeps its sessions, forks and cursors", patience, async () => {
  const path = freshPath();
  olderFile(path, 2_000);
  {
    using old = olderProgram(path);
    for (const id of ["gone", "a"]) old.create(recordOf(id));
    old.append("a", promptsFrom(1, 5));
    old.fork("a", recordOf("b", { archived: true }));
    old.append("b", [promptAt(6, "in b")]);
    old.create(recordOf("last"));
    old.delete("last");
    for (const id of ["gone", "a", "b"]) old.release(id);
  }
  const store = sqliteStore({ path });
  assert.deepEqual(await collect(store, "b"), [...promptsFrom(1, 5), promptAt(6, "in b")]);
  assert.deepEqual([await idsOf(store), await idsOf(store, { archived: "only" })], [["gone", "a"], ["b"]]);
  const before = await entriesFrom(store.tail("a")[Symbol.asyncIterator](), 5);
  const claim = await store.claim("a");
  await writerOf(store, claim).append([promptAt(6)]);
  const after = await entriesFrom(store.tail("a", before.cursor)[Symbol.asyncIterator](), 1);
  assert.deepEqual(after.entries, [promptAt(6)]);
  await store.delete("gone");
  await store.create(recordOf("new"));
  const keys = withSqlite(path, (db) => db.prepare("SELECT id, key FROM session ORDER BY key").all());
  assert.deepEqual(
    keys.map(({ key }) => key),
    [2, 3, 5],
    "keys of deleted sessions are not used again",
  );
  const broken = withSqlite(path, (db) => db.prepare("PRAGMA foreign_key_check").all());
  assert.deepEqual(broken, []);
  assert.deepEqual(await store.verify(), []);
  await store.close();
});

const older = `import { olderProgram } from ${JSON.stringify(import.meta.resolve("../../../test/support/older-program.ts"))};`;

/** Appends one entry after another and prints its number, until it is told to stop. */
const appending = `
  ${older}
  const old = olderProgram(path);
  let isAsked = false;
  process.stdin.once("data", () => { isAsked = true; });
  old.claim("a");
  const step = () => {
    if (isAsked) process.exit(0);
    const seq = old.lastSeq("a") + 1;
    try {
      old.append("a", [promptAt(seq)]);
    } catch {
      process.exit(1);
    }
    say(String(seq));
    setTimeout(step, 2);
  };
  step();
`;

test(
  "an older program that writes during the migration and after it keeps its session, and nothing is lost",
  patience,
  async () => {
    const path = freshPath();
    olderFile(path, 2_000);
    {
      using old = olderProgram(path);
      old.create(recordOf("a"));
      old.append("a", promptsFrom(1, 200));
      old.release("a");
    }
    const child = storeProcess(path, appending);
    const store = sqliteStore({ path });
    try {
      await child.atLeast(5);
      await store.open();
      const during = child.lines().length;
      const events = store.tail("a")[Symbol.asyncIterator]();
      await child.atLeast(during + 20);
      assert.equal(await reasonOf(store.claim("a")), "session_held");
      const { head } = (await store.get("a")) ?? {};
      assert.equal(head?.state, undefined);
      child.say("stop");
      assert.equal(await child.ended, 0);
      const last = Number(child.lines().at(-1));
      assert.equal(last, 200 + child.lines().length, "every append was stored once");
      const writer = writerOf(store, await store.claim("a"));
      await writer.append([promptAt(last + 1)]);
      const { entries, cursor } = await entriesFrom(events, last + 1);
      assert.deepEqual(entries, promptsFrom(1, last + 1));
      // the older program claims the session when it is free, and is then a holder like any other
      await store.release(writer.claim);
      const second = storeProcess(path, appending);
      try {
        await second.atLeast(3);
        assert.equal(await reasonOf(writer.append([promptAt(last + 2)])), "fenced");
        assert.equal(await reasonOf(store.claim("a")), "session_held");
        assert.ok(((await store.get("a"))?.head.epoch ?? 0) > writer.claim.epoch);
        const taken = writerOf(store, await store.claim("a", { takeOver: true }));
        assert.equal(await second.ended, 1, "it may not append any more");
        const end = (await store.get("a"))?.head.lastSeq ?? 0;
        await taken.append([promptAt(end + 1)]);
        const rest = await entriesFrom(events, end - last);
        assert.deepEqual(rest.entries, promptsFrom(last + 2, end - last));
        const again = await entriesFrom(store.tail("a", cursor)[Symbol.asyncIterator](), end - last);
        assert.deepEqual(again.entries, rest.entries);
      } finally {
        second.kill();
        await second.ended;
      }
      assert.deepEqual(await store.verify(), []);
    } finally {
      child.kill();
      await child.ended;
      await store.close();
    }
  },
);

test("an older program reads, changes, forks and deletes what this version wrote", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const theirs = sqliteStore({ path, tenant: "another" });
  const state = { seq: 3, settledSeq: 3, prompts: [], questions: [], config: {} };
  const a = writerOf(store, await store.create(recordOf("a", { agent: "one", agentSessionId: "x" })));
  await a.append(promptsFrom(1, 3), { state });
  const long = promptAt(1, "long ".repeat(20_000));
  await writerOf(theirs, await theirs.create(recordOf("t"))).append([long]);
  await store.submit("a", { key: "k", body: 1 });
  await store.release(a.claim);
  {
    using old = olderProgram(path);
    assert.deepEqual(old.read("a"), { seqs: [1, 2, 3], areWhole: true });
    old.claim("a");
    old.append("a", [promptAt(4)]);
    old.patch("a", { title: "theirs", updatedAt: 5_000 });
    old.fork("a", recordOf("b", { principal: "ada" }));
    old.create(recordOf("c"));
    old.release("a");
    old.release("b");
    old.delete("c");
  }
  const session = await store.find("one", "x");
  assert.deepEqual([session?.title, session?.head.lastSeq, session?.head.state?.seq], ["theirs", 4, 3]);
  assert.deepEqual(await collect(store, "b"), promptsFrom(1, 4));
  assert.deepEqual(await idsOf(store, { principal: "ada" }), ["b"]);
  const made = (await store.get("b"))?.head.epoch ?? 0;
  const b = writerOf(store, await store.claim("b"));
  assert.ok(made > 0 && b.claim.epoch > made, `${b.claim.epoch} after ${made}`);
  await b.append([promptAt(5)]);
  {
    using old = olderProgram(path);
    old.patch("a", { archived: true });
  }
  assert.deepEqual(await idsOf(store, { archived: "only" }), ["a"]);
  await store.delete("a");
  assert.deepEqual(await collect(store, "b"), promptsFrom(1, 5));
  assert.deepEqual(await collect(theirs, "t"), [long]);
  assert.deepEqual([await store.verify(), await theirs.verify()], [[], []]);
  await store.close();
  await theirs.close();
});

test(
  "sessions of an older history are found by their agent, each session of an agent once",
  patience,
  async () => {
    const path = freshPath();
    olderFile(path, 2_000);
    const ofAgent = (agentSessionId: string, agent: object, updatedAt: number) => ({
      updatedAt,
      data: { agent, agentSessionId },
    });
    const one = { name: "one", command: ["npx", "one"] };
    {
      using old = olderProgram(path);
      old.create(recordOf("first", ofAgent("s1", one, 1)));
      old.create(recordOf("newest", ofAgent("s1", one, 3)));
      old.create(recordOf("second", ofAgent("s1", one, 2)));
      old.create(recordOf("named", ofAgent("s1", { name: "two" }, 1)));
      old.create(recordOf("none", { data: { agent: "no object" } }));
      old.create(recordOf("damaged", ofAgent("s9", one, 1)));
    }
    withSqlite(path, (db) => db.exec(`UPDATE session SET record = '{"data' WHERE id = 'damaged'`));
    const agent = `sha256:${createHash("sha256").update(JSON.stringify(one.command)).digest("hex")}`;
    const found = async () => {
      const store = sqliteStore({ path });
      const ids = [await store.find(agent, "s1"), await store.find('"two"', "s1")].map(
        (each) => each?.sessionId,
      );
      const listed = await idsOf(store, { agent });
      await store.close();
      return [ids, listed];
    };
    assert.deepEqual(await found(), [
      ["newest", "named"],
      ["newest", "second", "first"],
    ]);
    {
      using old = olderProgram(path);
      old.create(recordOf("later", ofAgent("s1", one, 4)));
    }
    assert.deepEqual(await found(), [
      ["later", "named"],
      ["later", "newest", "second", "first"],
    ]);
  },
);

test("sessions of different tenants know nothing of each other", patience, async () => {
  const path = freshPath();
  const [one, other] = ["one", "other"].map((tenant) => sqliteStore({ path, tenant }));
  assert.ok(one !== undefined && other !== undefined);
  const known = { agent: "an agent", agentSessionId: "x" };
  const long = promptAt(1, "secret ".repeat(20_000));
  const mine = writerOf(one, await one.create(recordOf("a", known)));
  await mine.append([long]);
  assert.equal(await other.get("a"), undefined);
  assert.equal(await other.find("an agent", "x"), undefined);
  assert.deepEqual([await idsOf(other), await other.search("secret")], [[], []]);
  assert.deepEqual(await idsOf(other, { text: "secret" }), []);
  await assert.rejects(other.claim("a", { takeOver: true }), { kind: "session_not_found" });
  await assert.rejects(other.append(mine.claim, 1, [promptAt(2)]), { kind: "session_not_found" });
  await other.delete("a");
  const theirs = writerOf(other, await other.create(recordOf("a", known)));
  await theirs.append([long]);
  assert.equal((await one.search("secret")).length, 1);
  await other.delete("a", theirs.claim);
  assert.deepEqual(await collect(one, "a"), [long]);
  assert.deepEqual(await one.verify(), []);
  await one.close();
  await other.close();
});
