// What is left after a crash, and what of old sessions is removed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inSoak } from "../test/support/soak.ts";
import { turn, workspace } from "../test/support/workspace.ts";

const program = fileURLToPath(new URL("../test/support/undo-loop.ts", import.meta.url));

test("a kill at any moment leaves a whole file, no lock and no temporary file for good", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "old\n");
  w.git("add", "-A");
  w.git("commit", "-qm", "first");
  for (let round = 0; round < inSoak(4, 60); round += 1) {
    w.write("a.txt", "old\n");
    const args = ["--conditions=parley-source", program, w.root, w.home, "new\n"];
    const child = spawn(process.execPath, args, { env: w.env, stdio: ["ignore", "pipe", "inherit"] });
    let lines = 0;
    for await (const _ of createInterface({ input: child.stdout })) {
      lines += 1;
      if (lines === 3 + round) child.kill("SIGKILL");
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    assert.ok(["old\n", "new\n".repeat(2000)].includes(w.read("a.txt")), `${w.read("a.txt").length} bytes`);
    const review = await w.open();
    assert.deepEqual(readdirSync(w.root).sort(), [".git", "a.txt"]);
    assert.deepEqual(
      readdirSync(w.path(".git")).filter((name) => name.endsWith(".lock")),
      [],
    );
    await review.close();
  }
});

test("the temporary file of a killed undo is removed by the next session, and nothing else", async (t) => {
  const w = workspace(t);
  const review = await w.open();
  await review.close();
  const [key] = readdirSync(w.home);
  const sessions = () => readdirSync(join(w.home, key!));
  const pending = (path: string) => writeFileSync(join(w.home, key!, sessions()[0]!, "pending"), path);
  w.write(".parley-0123456789ab.tmp", "half");
  w.write("mine.txt", "mine");
  pending(w.path("mine.txt"));
  await (await w.open()).close();
  pending(w.path(".parley-0123456789ab.tmp"));
  await (await w.open()).close();
  assert.deepEqual(readdirSync(w.root).sort(), [".git", "mine.txt"]);
});

test("the oldest sessions are removed when a workspace stores too much, running ones never", async (t) => {
  const w = workspace(t);
  const running = await w.open();
  const incompressible = (seed: number) =>
    Buffer.from(Array.from({ length: 40_000 }, (_, i) => ((i * i * seed + (i >> 3)) % 251) + 1));
  for (let i = 1; i <= 4; i += 1) {
    const review = await w.open();
    await turn(review, () => w.write(`f${i}.txt`, incompressible(i)));
    await review.close();
  }
  const [key] = readdirSync(w.home);
  const sessions = () => readdirSync(join(w.home, key!));
  const before = sessions();
  assert.equal(before.length, 5);
  await w.open({ limits: { storedBytes: 1 } });
  assert.deepEqual(
    sessions().filter((name) => before.includes(name)),
    [before[0]],
  );
  await turn(running, () => w.write("x.txt", "x\n"));
  assert.equal((await running.undo({ turn: 1 })).files[0]?.outcome, "undone");
});

test("a home folder, the root folder and what holds a home are not covered; a repository there only by its tracked files", async (t) => {
  const w = workspace(t, { git: false });
  for (const root of ["/", w.root, w.base]) {
    const env = { ...w.env, HOME: w.root };
    const review = await w.open({ roots: [root], env });
    assert.match(
      review.notCovered.join("\n"),
      new RegExp(`${root} is not covered: it is a home folder, or holds one`),
    );
    const { changes } = await turn(review, () => w.write("a.txt", `${root}\n`));
    assert.deepEqual(changes.files, []);
    await review.close();
  }
  const dotfiles = workspace(t);
  dotfiles.write("tracked", "a\n");
  dotfiles.git("add", "-A");
  dotfiles.write("work/untracked", "a\n");
  const env = { ...dotfiles.env, HOME: dotfiles.root };
  const review = await dotfiles.open({ env });
  assert.match(review.notCovered.join("\n"), /only tracked files are covered/);
  const { changes } = await turn(review, () => {
    dotfiles.write("tracked", "b\n");
    dotfiles.write("work/untracked", "b\n");
  });
  assert.deepEqual(
    changes.files.map(({ path }) => path),
    [dotfiles.path("tracked")],
  );
  const project = await dotfiles.open({ env, roots: [dotfiles.path("work")] });
  const second = await turn(project, () => dotfiles.write("work/untracked", "c\n"));
  assert.equal(second.changes.files.length, 1, "a project in it is read as a folder of its own");
});

test("without git, what is skipped, too large or over the budget is said and not undone", async (t) => {
  const w = workspace(t, { git: false });
  w.write("small.txt", "s\n");
  w.write("large.txt", "l".repeat(3000));
  w.write("binary.bin", Buffer.from([0, 1]));
  w.write("node_modules/x.js", "x\n");
  mkdirSync(w.path("crowd"));
  for (let i = 0; i < 20; i += 1) w.write(`crowd/${i}`, "c\n");
  const review = await w.open({ limits: { textFileBytes: 2000, files: 10 } });
  const { changes } = await turn(review, () => {
    for (const name of ["small.txt", "large.txt", "node_modules/x.js", "crowd/1"]) w.write(name, "changed\n");
    w.write("binary.bin", Buffer.from([0, 2]));
  });
  assert.deepEqual(
    changes.files.map(
      ({ path, hunks }) => `${path.slice(w.root.length + 1)} ${hunks[0]?.state} ${hunks[0]?.about ?? ""}`,
    ),
    [
      "binary.bin superseded its earlier content was not kept",
      "large.txt superseded its earlier content was not kept",
      "small.txt open ",
    ],
  );
  const { files } = await review.undo({ turn: 1 });
  assert.deepEqual(
    files.map(({ outcome, reason }) => reason ?? outcome),
    ["its earlier content was not kept", "its earlier content was not kept", "undone"],
  );
  assert.equal(readFileSync(w.path("large.txt"), "utf8"), "changed\n");
  const sentences = review.notCovered.join("\n");
  assert.match(sentences, /is not a git repository\. Only text files up to 2 KiB can be undone/);
  assert.match(sentences, /these folders are not covered: node_modules\./);
  assert.match(sentences, /more than 10 files\. These folders are not covered: crowd\./);
});
