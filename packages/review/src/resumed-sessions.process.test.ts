// Sessions that are opened again: earlier turns can be seen, kept, undone and redone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inSoak } from "../test/support/soak.ts";
import { allHunks, numbered, shown, turn, type Workspace, workspace } from "../test/support/workspace.ts";

const session = "one";

/** All files of a kind in our folder. */
function stored(w: Workspace, name: RegExp): string[] {
  const files = readdirSync(w.home, { recursive: true, withFileTypes: true });
  return files.map((each) => join(each.parentPath, each.name)).filter((path) => name.test(path));
}

for (const git of [true, false]) {
  test(`a session that is opened again shows, undoes and redoes its earlier turns (git: ${git})`, async (t) => {
    const w = workspace(t, { git });
    w.write("a.txt", numbered(30));
    w.write("gone.txt", "old\n");
    const first = await w.open({ session });
    await turn(first, () => w.write("a.txt", numbered(30).replace("line 3\n", "LINE 3\n")), "three");
    await turn(first, () => {
      w.write("a.txt", w.read("a.txt").replace("line 20\n", ""));
      w.write("new.sh", "echo\n", 0o755);
      w.write("gone.txt", "new\n");
    });
    const [kept] = allHunks(await first.changes());
    await first.keep([kept!.id]);
    const before = await first.changes();
    await first.close();

    const second = await w.open({ session });
    assert.deepEqual(await second.changes(), before);
    assert.deepEqual(
      second.turns.map(({ number, label }) => [number, label]),
      [
        [1, "three"],
        [2, undefined],
      ],
    );
    const undone = await second.undo({ turn: 2 });
    assert.deepEqual(new Set(undone.files.map(({ outcome }) => outcome)), new Set(["undone"]));
    assert.equal(w.read("a.txt"), numbered(30).replace("line 3\n", "LINE 3\n"));
    assert.equal(w.has("new.sh"), false);
    await second.close();

    const third = await w.open({ session });
    assert.deepEqual(third.undone, [undone.id]);
    assert.match(third.takeReport() ?? "", /new\.sh/, "the agent was not told yet");
    assert.deepEqual(
      (await third.redo({ id: undone.id })).files.map(({ outcome }) => outcome),
      ["redone", "redone", "redone"],
    );
    assert.equal(w.read("new.sh"), "echo\n");
    assert.equal((await turn(third, () => w.write("a.txt", "x\n"))).number, 3);
    await third.close();
    assert.equal((await w.open({ session: "another" })).turns.length, 0);
  });
}

test("a file that changed while nobody looked is merged or refused, never overwritten", async (t) => {
  const w = workspace(t);
  for (const name of ["far", "near", "binary"]) w.write(name, numbered(30));
  const first = await w.open({ session });
  await turn(first, () => {
    for (const name of ["far", "near"]) w.write(name, numbered(30).replace("line 15\n", "LINE 15\n"));
    w.write("binary", Buffer.from([0, 1, 2]));
  });
  await first.close();
  w.write("far", w.read("far").replace("line 1\n", "mine\n"));
  w.write("near", w.read("near").replace("LINE 15\n", "mine\n"));
  w.write("binary", Buffer.from([0, 9]));
  const second = await w.open({ session });
  const { files } = await second.undo({ turn: 1 });
  assert.deepEqual(
    files.map(({ path, outcome }) => `${path.slice(w.root.length + 1)} ${outcome}`),
    ["binary refused", "far merged", "near refused"],
  );
  assert.equal(w.read("far"), numbered(30).replace("line 1\n", "mine\n"));
  assert.equal(w.read("near"), numbered(30).replace("line 15\n", "mine\n"));
  assert.equal(w.read("binary"), "\0\t");
});

test("a file without lines is restored and put back after the session was opened again", async (t) => {
  const w = workspace(t);
  const [old, now] = [Buffer.alloc(3 * 2 ** 20, "o"), Buffer.alloc(3 * 2 ** 20, "n")];
  w.write("large", old);
  w.write("ignored", "one\n");
  w.write(".gitignore", "ignored\n");
  const first = await w.open({ session });
  await first.beginTurn();
  await first.protect(w.path("ignored"));
  w.write("large", now);
  w.write("ignored", "two\n");
  await first.endTurn();
  await first.close();
  const second = await w.open({ session });
  const undone = await second.undo({ turn: 1 });
  assert.equal(readFileSync(w.path("large")).equals(old), true);
  assert.equal(w.read("ignored"), "one\n");
  await second.close();
  const third = await w.open({ session });
  await third.redo(undone);
  assert.equal(readFileSync(w.path("large")).equals(now), true);
  assert.equal(w.read("ignored"), "two\n");
});

test("two processes with the same session do not share it: the second one says so", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "one\n");
  const first = await w.open({ session });
  await turn(first, () => w.write("a.txt", "two\n"));
  const second = await w.open({ session });
  assert.match(second.notCovered.join("\n"), /Another process has this session open/);
  assert.deepEqual(second.turns, []);
  await turn(second, () => w.write("b.txt", "b\n"));
  await second.close();
  await turn(first, () => w.write("a.txt", "three\n"));
  await first.close();
  const again = await w.open({ session });
  assert.deepEqual(shown(await again.changes()), ["changed a.txt", "@ lines open", "-one", "+three"]);
});

test("a session that was killed in a turn keeps the turns before, and says that one was cut off", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "old\n");
  const program = fileURLToPath(new URL("../test/support/turn-loop.ts", import.meta.url));
  for (let round = 0; round < inSoak(3, 60); round += 1) {
    const args = ["--conditions=parley-source", program, w.root, w.home, `killed ${round}`];
    const child = spawn(process.execPath, args, { env: w.env, stdio: ["ignore", "pipe", "inherit"] });
    let ended = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === "ended") ended += 1;
      if (ended === 2 + round && line === "begun") child.kill("SIGKILL");
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    const review = await w.open({ session: `killed ${round}` });
    assert.ok(review.turns.length >= ended, `${review.turns.length} of ${ended}`);
    assert.match(review.notCovered.join("\n"), /Turn \d+ was cut off/);
    assert.equal((await review.undo({ turn: 1 })).files[0]?.outcome, "undone");
    await review.close();
  }
});

test("stored turns that are damaged are said, and the review goes on without them", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "one\n");
  const first = await w.open({ session });
  await turn(first, () => w.write("a.txt", "two\n"));
  await first.close();
  writeFileSync(stored(w, /head$/)[0]!, "damaged");
  const second = await w.open({ session });
  assert.match(second.notCovered.join("\n"), /earlier turns of this session cannot be shown or undone/);
  await turn(second, () => w.write("a.txt", "three\n"));
  await second.close();
  assert.equal((await w.open({ session })).turns.length, 1);
});

test("what is stored of the turns is bounded, and what is left out is said", async (t) => {
  const w = workspace(t);
  const first = await w.open({ session, limits: { turnBytes: 20_000 } });
  await turn(first, () => w.write("small.txt", "small\n"));
  const { notes } = await turn(first, () => w.write("large.txt", numbered(3000)));
  assert.match(notes.join("\n"), /too large to be stored/);
  assert.equal(
    (await first.undo({ turn: 2 })).files[0]?.outcome,
    "undone",
    "in this process it can be undone",
  );
  await first.close();
  const second = await w.open({ session });
  assert.deepEqual(shown(await second.changes()), ["created small.txt", "@ lines open", "+small"]);
  await turn(second, () => undefined);
  assert.ok(stored(w, /turns\/[0-9a-f]+$/).length <= 2, "parts that nothing names are removed");
});

test("sessions that nobody used for a month are removed, in every workspace", async (t) => {
  const w = workspace(t);
  for (const name of ["old", "young"]) await (await w.open({ session: name })).close();
  const [old, young] = readdirSync(join(w.home, readdirSync(w.home).find((name) => name !== "swept")!))
    .sort()
    .map((name) => stored(w, new RegExp(`${name}$`))[0]!);
  const longAgo = Date.now() / 1000 - 40 * 86_400;
  utimesSync(old!, longAgo, longAgo);
  utimesSync(join(w.home, "swept"), longAgo, longAgo);
  const other = join(w.base, "other");
  mkdirSync(other);
  await (await w.open({ roots: [other], session: "third" })).close();
  assert.deepEqual(readdirSync(dirname(old!)), [young!.slice(dirname(young!).length + 1)]);
});

test("a folder of ours that cannot be written is said with what to do", async (t) => {
  const w = workspace(t);
  if (process.getuid?.() === 0) {
    // root may write everywhere, but not below a file
    writeFileSync(w.home, "");
    await assert.rejects(
      w.open(),
      /cannot store in .*ours: something that is no folder is in its place; move it away/,
    );
    return;
  }
  mkdirSync(w.home);
  chmodSync(w.home, 0o500);
  await assert.rejects(w.open(), /cannot store in .*ours: you may not write there; give yourself the right/);
});
