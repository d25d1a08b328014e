import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { inSoak } from "../../../test/support/soak.ts";
import { freshPath, withSqlite } from "../../../test/support/store-probe.ts";
import { type StoreProcess, storeProcess } from "../../../test/support/store-process.ts";
import {
  collect,
  createdWith,
  entriesFrom,
  promptAt,
  recordOf,
  writerOf,
} from "../../testing/contracts/store-samples.ts";
import { sqliteStore } from "./sqlite-store.ts";

const patience = { timeout: inSoak(240_000, 1_800_000) };

/** Claims the session again and again, appends a few batches each time, and prints each entry that was acknowledged. */
function fighting(name: string): string {
  return `
    const store = sqliteStore({ path, busyTimeoutMs: 60_000 });
    for (let count = 0; ; ) {
      const claim = await store.claim("a", { takeOver: true });
      let after = (await store.get("a")).head.lastSeq;
      try {
        for (let batch = 0; batch < 5; batch++) {
          const texts = Array.from({ length: 1 + (count % 4) }, (_, n) => claim.epoch + " ${name}." + (count + n));
          count += texts.length;
          const entries = texts.map((text, n) => promptAt(after + 1 + n, text));
          const appending = store.append(claim, after, entries, { isSynced: count % 7 === 0 });
          await appending;
          // as if the answer had been lost
          if (count % 3 === 0) await store.append(claim, after, entries);
          for (const [n, text] of texts.entries()) say(after + 1 + n + " " + text);
          after += entries.length;
        }
      } catch (error) {
        if (error.data?.reason !== "fenced") throw error;
      }
    }
  `;
}

/** Follows the session from a cursor, and prints what it gets. */
function following(cursor: string | undefined): string {
  return `
    const store = sqliteStore({ path, busyTimeoutMs: 60_000 });
    for await (const event of store.tail("a", ${JSON.stringify(cursor)})) {
      const seen = event.entries.map(({ seq, text }) => seq + " " + JSON.parse(text).prompt[0].text);
      say(JSON.stringify({ seen, cursor: event.cursor }));
    }
  `;
}

/** A generator of random numbers that are the same in each run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1;
    return state % below;
  };
}

test(
  "writers that compete and are killed at any moment lose nothing that was acknowledged, and readers see all of it once",
  patience,
  async () => {
    const path = freshPath();
    const store = sqliteStore({ path, busyTimeoutMs: 60_000 });
    await createdWith(store, "a");
    const next = sequence(20_261_119);
    const acknowledged: string[] = [];
    const seen: string[] = [];
    let cursor: string | undefined;
    let reader: StoreProcess = storeProcess(path, following(cursor));
    const readOn = async (): Promise<void> => {
      reader.kill();
      await reader.ended;
      for (const line of reader.lines()) {
        const event: { seen: string[]; cursor: string } = JSON.parse(line);
        seen.push(...event.seen);
        cursor = event.cursor;
      }
    };
    let killed = 0;
    const toKill = inSoak(6, 300);
    const fight = async (slot: number): Promise<void> => {
      for (let round = 0; killed < toKill; round++) {
        killed++;
        const writer = storeProcess(path, fighting(`${slot}.${round}`));
        try {
          await writer.atLeast(1 + next(40));
        } finally {
          writer.kill();
        }
        assert.equal(await writer.ended, "SIGKILL");
        acknowledged.push(...writer.lines());
        // the reader is killed by one of them alone
        if (slot > 0 || next(3) > 0) continue;
        await readOn();
        reader = storeProcess(path, following(cursor));
      }
    };
    try {
      await Promise.all([fight(0), fight(1), fight(2)]);
      const claim = await store.claim("a", { takeOver: true });
      const last = ((await store.get("a"))?.head.lastSeq ?? 0) + 1;
      await writerOf(store, claim).append([promptAt(last, `${claim.epoch} end`)]);
      for (let lines = 1; !reader.lines().at(-1)?.includes(`"${last} ${claim.epoch} end"`); lines++)
        await reader.atLeast(lines);
      await readOn();
      const entries = await collect(store, "a");
      const stored = entries.map(({ seq, text }) => `${seq} ${JSON.parse(text).prompt[0].text}`);
      assert.deepEqual(
        entries.map(({ seq }) => seq),
        entries.map((_, index) => index + 1),
        "no gap",
      );
      const texts = stored.map((each) => each.replace(/^\d+ /, ""));
      assert.equal(new Set(texts).size, texts.length, "nothing twice");
      const all = new Set(stored);
      assert.deepEqual(
        acknowledged.filter((each) => !all.has(each)),
        [],
        "nothing acknowledged is lost",
      );
      const epochs = texts.map((text) => Number.parseInt(text, 10));
      assert.deepEqual(
        epochs,
        epochs.toSorted((one, other) => one - other),
        "a fenced holder writes nothing",
      );
      assert.deepEqual(seen, stored, "readers see exactly what is stored");
      assert.ok(acknowledged.length > toKill, `${acknowledged.length} acknowledged`);
      assert.deepEqual(await store.verify(), []);
    } finally {
      reader.kill();
      await reader.ended;
      await store.close();
    }
  },
);

test(
  "commands of several processes reach the holder once each, and their outcomes come back",
  patience,
  async () => {
    const path = freshPath();
    const store = sqliteStore({ path, busyTimeoutMs: 60_000 });
    const { claim } = await createdWith(store, "a");
    const count = 40;
    // both send the same ones, as after a lost answer
    const sending = `
    const store = sqliteStore({ path, busyTimeoutMs: 60_000 });
    const keys = Array.from({ length: ${count} }, (_, n) => "key " + n);
    for (const key of keys) await store.submit("a", { key, body: { key } });
    const isOpen = async () => {
      for (const key of keys) if ((await store.submit("a", { key, body: { key } })).outcome === undefined) return true;
      return false;
    };
    const changes = store.tail("a")[Symbol.asyncIterator]();
    while (await isOpen()) await changes.next();
    for (const key of keys) say(JSON.stringify((await store.submit("a", { key, body: { key } })).outcome));
    await store.close();
    process.exit(0);
  `;
    const children = [0, 1].map(() => storeProcess(path, sending));
    try {
      const got: string[] = [];
      let after = 0;
      for await (const page of store.commands("a")) {
        for (const { number, key } of page) {
          got.push(key);
          await store.append(claim, after, [promptAt(after + 1, key)], {
            settles: [{ number, outcome: { key } }],
          });
          after++;
        }
        if (got.length >= count) break;
      }
      const keys = Array.from({ length: count }, (_, n) => `key ${n}`);
      assert.deepEqual(got, keys);
      for (const child of children) {
        assert.equal(await child.ended, 0);
        assert.deepEqual(
          child.lines(),
          keys.map((key) => JSON.stringify({ key })),
        );
      }
    } finally {
      for (const child of children) child.kill();
      await store.close();
    }
  },
);

test("while somebody follows a session, no transaction is open", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const { append } = await createdWith(store, "a", [promptAt(1)]);
  const events = store.tail("a")[Symbol.asyncIterator]();
  await events.next();
  const next = events.next();
  const hints = store.changes()[Symbol.asyncIterator]();
  const hint = hints.next();
  await setImmediate();
  const checkpoint = withSqlite(path, (db) => db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get());
  assert.equal(checkpoint?.["busy"], 0);
  await append([promptAt(2)]);
  const { value } = await next;
  assert.equal(value?.kind, "entries");
  assert.deepEqual((await hint).value, ["a"]);
  await store.create(recordOf("b"));
  await store.close();
});

test("many sessions are followed while other processes append to all of them", patience, async () => {
  const path = freshPath();
  const store = sqliteStore({ path, busyTimeoutMs: 60_000 });
  const ids = Array.from({ length: 12 }, (_, n) => `s${n}`);
  const writing = (mine: readonly string[]) => `
    const store = sqliteStore({ path, busyTimeoutMs: 60_000 });
    await Promise.all(${JSON.stringify(mine)}.map(async (id) => {
      const claim = await store.claim(id);
      for (let seq = 1; seq <= 60; seq++) await store.append(claim, seq - 1, [promptAt(seq, id + " " + seq)]);
    }));
    await store.close();
    process.exit(0);
  `;
  for (const id of ids) await store.release((await createdWith(store, id)).claim);
  const reading = ids.map((id) => entriesFrom(store.tail(id)[Symbol.asyncIterator](), 60));
  const children = [0, 1, 2].map((part) => storeProcess(path, writing(ids.filter((_, n) => n % 3 === part))));
  try {
    for (const [n, { entries, end }] of (await Promise.all(reading)).entries()) {
      const expected = Array.from({ length: 60 }, (_, at) => promptAt(at + 1, `s${n} ${at + 1}`));
      assert.deepEqual([entries, end], [expected, undefined]);
    }
    assert.deepEqual(await Promise.all(children.map((child) => child.ended)), [0, 0, 0]);
  } finally {
    for (const child of children) child.kill();
    await store.close();
  }
});
