import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { test } from "node:test";
import { claimedSessions } from "../../../test/support/claimed-sessions.ts";
import { inSoak } from "../../../test/support/soak.ts";
import { freshPath, withSqlite } from "../../../test/support/store-probe.ts";
import { storeProcess } from "../../../test/support/store-process.ts";
import {
  collect,
  promptAt,
  promptsFrom,
  reasonOf,
  recordOf,
  writerOf,
} from "../../testing/contracts/store-samples.ts";
import { sqliteStore } from "./sqlite-store.ts";

const patience = { timeout: 240_000 };
const linux = { ...patience, skip: process.platform === "linux" ? false : "needs /proc" };

/** A wrapper that does something first; the command is in "$@". */
function shell(script: string): string[] {
  return ["/bin/sh", "-c", script, "sh"];
}

/** The disk is seen by the wrapped process alone and vanishes with it. */
function onSmallDisk(folder: string): string[] {
  const mounting = `mount -t tmpfs -o size=1m none '${folder}' && exec "$@"`;
  return ["/bin/sh", "-c", 'exec unshare --mount /bin/sh -c "$0" sh "$@"', mounting];
}

const smallDisk = {
  ...patience,
  skip:
    spawnSync("/bin/sh", [...onSmallDisk(tmpdir()).slice(1), "true"]).status === 0
      ? false
      : "this user may not mount a disk of its own",
};

/** Appends as fast as it can, several at a time, and says each number once it is acknowledged. */
function appending(next: number, durability: string): string {
  return `
    const store = sqliteStore({ path, durability: "${durability}" });
    const sessions = claimedSessions(store);
    if (await store.get("a") === undefined) await sessions.create(recordOf("a"));
    else await sessions.claim("a");
    for (let seq = ${next}; ; ) {
      const batch = [];
      for (let n = seq % 5; n >= 0; n--, seq++) {
        const mine = seq;
        batch.push(sessions.append("a", [promptAt(mine)]).then(() => say(mine)));
      }
      await Promise.all(batch);
    }
  `;
}

test("F15: a writer that is killed at any moment loses nothing that it acknowledged", patience, async () => {
  const path = freshPath();
  let stored = 0;
  for (let round = 0; round < inSoak(6, 40); round++) {
    const durability = round % 2 === 0 ? "normal" : "full";
    const child = storeProcess(path, appending(stored + 1, durability));
    try {
      await child.atLeast(Math.floor(Math.random() * 300));
    } finally {
      child.kill();
    }
    assert.equal(await child.ended, "SIGKILL");
    const acknowledged = child.lines().map(Number);
    assert.deepEqual(
      acknowledged,
      acknowledged.map((_, index) => stored + 1 + index),
      "in order",
    );
    const store = sqliteStore({ path });
    assert.deepEqual(await store.verify(), []);
    const seqs =
      (await store.get("a")) === undefined ? [] : (await collect(store, "a")).map(({ seq }) => seq);
    await store.close();
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 1),
      "no gap",
    );
    assert.ok(seqs.length >= stored + acknowledged.length, `round ${round}: ${seqs.length}`);
    stored = seqs.length;
  }
  assert.ok(stored > 0);
});

test(
  "a second process is told who holds a session, and may claim it when that one is killed",
  patience,
  async () => {
    const path = freshPath();
    const before = Date.now();
    const child = storeProcess(
      path,
      `
      const store = sqliteStore({ path });
      const sessions = claimedSessions(store);
      await sessions.create(recordOf("a"));
      await sessions.append("a", promptsFrom(1, 3));
      say("holding");
      process.stdin.resume();
    `,
    );
    const store = sqliteStore({ path });
    const sessions = claimedSessions(store);
    try {
      await child.atLeast(1);
      const isTold = (error: Error & { code?: number; data?: unknown }): boolean => {
        assert.equal(error.code, -32066);
        const { holder } = error.data as { holder: { pid: number; since: number } };
        assert.equal(holder.pid, child.pid);
        assert.ok(holder.since >= before && holder.since <= Date.now());
        assert.ok(
          error.message.includes(`process ${child.pid} since ${new Date(holder.since).toISOString()}`),
        );
        return true;
      };
      await assert.rejects(sessions.claim("a"), isTold);
      assert.equal(await reasonOf(sessions.append("a", [promptAt(4)])), "fenced");
      await assert.rejects(sessions.delete("a"), isTold);
      assert.deepEqual(await collect(store, "a"), promptsFrom(1, 3), "it may read");
      await sessions.fork("a", recordOf("b"));
      await sessions.append("b", [promptAt(4, "in the fork")]);
      child.kill();
      await child.ended;
      await assert.rejects(
        sessions.append("a", [promptAt(4)]),
        { code: -32066 },
        "not before it has claimed",
      );
      await sessions.claim("a");
      await sessions.append("a", [promptAt(4)]);
      assert.deepEqual(await collect(store, "a"), promptsFrom(1, 4));
    } finally {
      child.kill();
      await child.ended;
      await store.close();
    }
  },
);

test("a process that closes its store hands its sessions over", patience, async () => {
  const path = freshPath();
  const code =
    'const store = sqliteStore({ path }); await store.create(recordOf("a")); await store.close(); say("closed"); process.stdin.resume();';
  const child = storeProcess(path, code);
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  try {
    await child.atLeast(1);
    await sessions.claim("a");
    await sessions.append("a", [promptAt(1)]);
  } finally {
    child.kill();
    await child.ended;
    await store.close();
  }
});

test("a reused pid is not the holder", linux, async () => {
  const path = freshPath();
  const store = sqliteStore({ path });
  const sessions = claimedSessions(store);
  await sessions.create(recordOf("a"));
  const hold = (pid: number, started: string): void =>
    withSqlite(path, (db) => {
      db.prepare("UPDATE session SET holder_pid = ?, holder_started = ?").run(pid, started);
    });
  const own = withSqlite(path, (db) =>
    String(db.prepare("SELECT holder_started FROM session").get()?.["holder_started"]),
  );
  hold(process.ppid, own);
  await assert.rejects(sessions.append("a", [promptAt(1)]), { code: -32066 }, "it was taken from us");
  await sessions.claim("a");
  hold(process.pid, own.replace(/^[^/]*/, "another-boot"));
  await sessions.claim("a");
  await sessions.append("a", [promptAt(1)]);
  await store.close();
});

test("processes that make the store at the same moment all get it", patience, async () => {
  const path = freshPath();
  const children = [0, 1, 2, 3].map((n) =>
    storeProcess(
      path,
      `
        process.stdin.once("data", async () => {
          const store = sqliteStore({ path });
          const sessions = claimedSessions(store);
          await sessions.create(recordOf("s${n}"));
          for (let seq = 1; seq <= 50; seq++) await sessions.append("s${n}", [promptAt(seq)]);
          await store.close();
          process.exit(0);
        });
        say("ready");
      `,
    ),
  );
  try {
    await Promise.all(children.map((child) => child.atLeast(1)));
    for (const child of children) child.say("go");
    assert.deepEqual(await Promise.all(children.map((child) => child.ended)), [0, 0, 0, 0]);
  } finally {
    for (const child of children) child.kill();
  }
  const store = sqliteStore({ path });
  for (const n of [0, 1, 2, 3]) assert.equal((await collect(store, `s${n}`)).length, 50);
  assert.deepEqual(await store.verify(), []);
  await store.close();
});

test(
  "F8: a write waits for the lock of another process, and is refused when that takes too long",
  patience,
  async () => {
    const path = freshPath();
    const patient = sqliteStore({ path });
    const claim = await patient.create(recordOf("a"));
    const hasty = sqliteStore({ path, busyTimeoutMs: 50 });
    await hasty.open();
    const child = storeProcess(
      path,
      `
      import { DatabaseSync } from "node:sqlite";
      const db = new DatabaseSync(path);
      db.exec("BEGIN IMMEDIATE");
      process.stdin.once("data", () => { db.exec("COMMIT"); process.exit(0); });
      say("locked");
    `,
    );
    try {
      await child.atLeast(1);
      await assert.rejects(writerOf(hasty, claim).append([promptAt(1)]), {
        code: -32067,
        data: { reason: "busy" },
      });
      assert.equal((await hasty.list()).sessions.length, 1, "reading goes on");
      child.say("go");
      await writerOf(patient, claim).append([promptAt(1)]);
      await writerOf(hasty, claim).append([promptAt(2)]);
      assert.equal(await child.ended, 0);
    } finally {
      child.kill();
      await patient.close();
      await hasty.close();
    }
  },
);

for (const umask of ["000", "077", "777"]) {
  const posix = { ...patience, skip: process.platform === "win32" ? "Windows has no modes" : false };
  test(`files are for this user alone with umask ${umask}`, posix, async () => {
    const path = freshPath();
    const code =
      'const store = sqliteStore({ path }); await store.create(recordOf("a")); say("made"); process.stdin.resume();';
    const child = storeProcess(path, code, shell(`umask ${umask}; exec "$@"`));
    try {
      await child.atLeast(1);
      const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);
      assert.deepEqual([path, `${path}-wal`, `${path}-shm`].map(mode), ["600", "600", "600"]);
      assert.equal(mode(dirname(path)), "700");
    } finally {
      child.kill();
      await child.ended;
    }
  });
}

test("F7: on a full disk nothing is acknowledged, and space that returns is used", smallDisk, async () => {
  const path = freshPath();
  mkdirSync(dirname(path), { recursive: true });
  const code = `
    import { rmSync, writeFileSync } from "node:fs";
    const filler = path + ".filler";
    const store = sqliteStore({ path });
    const sessions = claimedSessions(store);
    await sessions.create(recordOf("a"));
    writeFileSync(filler, Buffer.alloc(256 * 1024));
    let seq = 0;
    try { for (;;) { await sessions.append("a", [promptAt(seq + 1, "x".repeat(10_000))]); seq++; } }
    catch (error) { say(JSON.stringify({ code: error.code, reason: error.data.reason })); }
    say((await collect(store, "a")).length === seq);
    await sessions.append("a", [promptAt(seq + 1, "x".repeat(10_000))]).catch((error) => say(error.code));
    rmSync(filler);
    await sessions.append("a", [promptAt(seq + 1, "x".repeat(10_000))]);
    say((await collect(store, "a")).length === seq + 1 && seq > 0);
    say(JSON.stringify(await store.verify()));
    await store.close();
    process.exit(0);
  `;
  const child = storeProcess(path, code, onSmallDisk(dirname(path)));
  const exit = await child.ended;
  assert.equal(exit, 0);
  assert.deepEqual(child.lines(), ['{"code":-32067,"reason":"no_space"}', "true", "-32067", "true", "[]"]);
});
