import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { claimedSessions } from "../../../test/support/claimed-sessions.ts";
import { freshPath, withSqlite } from "../../../test/support/store-probe.ts";
import { collect, promptAt, promptsFrom, recordOf } from "../../testing/contracts/store-samples.ts";
import { sqliteStore } from "./sqlite-store.ts";

const patience = { timeout: 120_000 };

async function storeWithTwo(): Promise<string> {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  for (const id of ["good", "bad"]) {
    await sessions.create(recordOf(id));
    await sessions.append(id, [...promptsFrom(1, 200), promptAt(201, "long ".repeat(20_000)), promptAt(202)]);
  }
  await store.close();
  return path;
}

const bad = "(SELECT key FROM session WHERE id = 'bad')";

for (const [what, sql, place] of [
  ["an entry that does not parse", `UPDATE entry SET body = '{' WHERE session = ${bad} AND seq = 150`, 150],
  [
    "an entry of which a byte changed",
    `UPDATE entry SET body = replace(body, 'prompt 7', 'prompt 8') WHERE session = ${bad} AND seq = 7`,
    7,
  ],
  ["an entry that is missing", `DELETE FROM entry WHERE session = ${bad} AND seq = 3`, 3],
  ["a tail that is missing", `DELETE FROM entry WHERE session = ${bad} AND seq > 180`, 181],
  [
    "a list of long texts that does not parse",
    `UPDATE entry SET blobs = '[' WHERE session = ${bad} AND seq = 201`,
    201,
  ],
  [
    "a list of long texts of another form",
    `UPDATE entry SET blobs = replace(blobs, '[[', '[["x",') WHERE session = ${bad} AND seq = 201`,
    201,
  ],
  [
    "a long text that is missing",
    `UPDATE entry SET blobs = '[[["prompt",0,"text"],"0"]]' WHERE session = ${bad} AND seq = 201`,
    201,
  ],
] as const) {
  test(`${what} is reported for its session alone`, patience, async () => {
    const path = await storeWithTwo();
    withSqlite(path, (db) => db.exec(sql));
    const store = sqliteStore({ path });
    const sessions = claimedSessions(store);
    await assert.rejects(collect(store, "bad"), (error: Error & { kind?: string; sessionId?: string }) => {
      assert.equal(error.kind, "damaged");
      assert.equal(error.sessionId, "bad");
      assert.match(
        error.message,
        new RegExp(`session "bad" in ${path} is damaged at entry ${place} .*delete it`),
      );
      return true;
    });
    assert.equal((await collect(store, "good")).length, 202);
    assert.equal((await store.list()).sessions.length, 2);
    assert.ok((await store.search("prompt 5")).length > 0);
    const problems = await store.verify();
    assert.deepEqual(
      problems.map(({ sessionId }) => sessionId),
      ["bad"],
    );
    await sessions.delete("bad");
    assert.deepEqual(await store.verify(), []);
    await store.close();
  });
}

test(
  "a session whose record is damaged is left out of lists, which is logged, and can be deleted",
  patience,
  async () => {
    const path = await storeWithTwo();
    withSqlite(path, (db) => db.exec(`UPDATE session SET record = '{"x' WHERE id = 'bad'`));
    const logged: unknown[] = [];
    const store = sqliteStore({
      path,
      log: (level, message, fields) => logged.push([level, message, fields]),
    });
    const sessions = claimedSessions(store);
    assert.deepEqual(
      (await store.list()).sessions.map(({ sessionId }) => sessionId),
      ["good"],
    );
    assert.deepEqual(logged, [["warn", "a damaged session is left out", { sessionId: "bad" }]]);
    await assert.rejects(store.get("bad"), { kind: "damaged", sessionId: "bad" });
    await sessions.delete("bad");
    await store.close();
  },
);

test(
  "whichever page loses a byte, readers get the truth or an error, never something else",
  patience,
  async () => {
    const path = await storeWithTwo();
    const whole = readFileSync(path);
    const expected = [...promptsFrom(1, 200), promptAt(201, "long ".repeat(20_000)), promptAt(202)];
    let problems = 0;
    const pages = whole.length / 4_096;
    for (let page = 0; page < pages; page++) {
      const bytes = Buffer.from(whole);
      const at = page * 4_096 + ((page * 2_053 + 101) % 4_096);
      bytes[at] = (bytes[at] ?? 0) ^ 0x55;
      writeFileSync(path, bytes);
      const store = sqliteStore({ path });
      for (const id of ["good", "bad"]) {
        try {
          assert.deepEqual(await collect(store, id), expected, `page ${page}`);
        } catch (error) {
          assert.ok(error instanceof Error && !(error instanceof assert.AssertionError), String(error));
          problems++;
        }
      }
      // the damage may be where closing writes; what was read before is what counts
      await store.close().catch(() => undefined);
    }
    assert.ok(problems > 0 && problems < pages * 2, `${problems} problems in ${pages} pages`);
  },
);

test(
  "a full store acknowledges nothing, serves what it has, and takes writes when there is room again",
  patience,
  async () => {
    const path = freshPath();
    const store = sqliteStore({ path, maxBytes: 512 * 1024 });
    const sessions = claimedSessions(store);
    await sessions.create(recordOf("a"));
    await sessions.create(recordOf("b"));
    await sessions.append("b", [promptAt(1, noise(60_000))]);
    let stored = 0;
    const full = { code: -32067, data: { reason: "no_space" } };
    await assert.rejects(async () => {
      for (;;) {
        await sessions.append("a", [promptAt(stored + 1, noise(30_000))]);
        stored++;
      }
    }, full);
    assert.ok(stored > 5, `${stored} stored`);
    assert.equal((await collect(store, "a")).length, stored);
    // A small one that shares the transaction of a large one still finds room.
    const [large, small] = await Promise.allSettled([
      sessions.append("a", [promptAt(stored + 1, noise(60_000))]),
      sessions.append("b", [promptAt(2)]),
    ]);
    assert.deepEqual([large.status, small.status], ["rejected", "fulfilled"]);
    await sessions.delete("b");
    await sessions.append("a", [promptAt(stored + 1)]);
    assert.equal((await collect(store, "a")).length, stored + 1);
    assert.deepEqual(await store.verify(), []);
    await store.close();
  },
);

/** Text that no two calls share, so that it takes room. */
function noise(length: number): string {
  let text = "";
  while (text.length < length) text += Math.random().toString(36);
  return text.slice(0, length);
}
