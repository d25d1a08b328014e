// Turns, hunks, keep, undo and redo, in folders without git: no process is started.

import assert from "node:assert/strict";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { allHunks, numbered, shown, turn, workspace } from "../test/support/workspace.ts";

const plain = { git: false };

test("a turn ends with the files and lines that it changed", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", "one\ntwo\nthree\n");
  w.write("gone.txt", "bye\n");
  const review = await w.open();
  const { changes, number, label } = await turn(
    review,
    () => {
      w.write("a.txt", "one\n2\nthree\nfour\n");
      w.write("new.txt", "hello\n");
      rmSync(w.path("gone.txt"));
    },
    "a prompt",
  );
  assert.deepEqual(
    [number, label, changes.files.length, changes.added, changes.removed],
    [1, "a prompt", 3, 3, 2],
  );
  assert.deepEqual(shown(changes), [
    "changed a.txt",
    "@ lines open",
    "-two",
    "+2",
    "+four",
    "deleted gone.txt",
    "@ lines open",
    "-bye",
    "created new.txt",
    "@ lines open",
    "+hello",
  ]);
});

test("a hunk has its line numbers and three lines around it", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", numbered(30));
  const review = await w.open();
  await turn(review, () => w.write("a.txt", `first\n${numbered(30).replace("line 20\n", "changed\n")}`));
  const hunks = allHunks(await review.changes());
  assert.deepEqual(
    hunks.map(({ oldStart, newStart, lines }) => [oldStart, newStart, lines.length]),
    [
      [1, 1, 4],
      [17, 18, 8],
    ],
  );
});

test("the user's own lines are not the agent's, and stay when everything of the agent is undone", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", numbered(20));
  const review = await w.open();
  await turn(review, () => w.write("a.txt", numbered(20).replace("line 3\n", "agent 3\n")));
  w.write("a.txt", w.read("a.txt").replace("line 10\n", "user 10\n"));
  await turn(review, () => w.write("a.txt", w.read("a.txt").replace("line 17\n", "agent 17\nagent 17b\n")));
  w.write("a.txt", `user 0\n${w.read("a.txt")}`);
  const changes = await review.changes();
  assert.deepEqual(
    shown(changes).filter((line) => /^[+-]/.test(line)),
    ["-line 3", "+agent 3", "-line 17", "+agent 17", "+agent 17b"],
  );
  const result = await review.undo({ hunks: allHunks(changes).map(({ id }) => id) });
  assert.deepEqual(
    result.files.map(({ outcome }) => outcome),
    ["merged"],
  );
  assert.equal(w.read("a.txt"), `user 0\n${numbered(20).replace("line 10\n", "user 10\n")}`);
});

test("changes of several turns to the same lines are one hunk with the net change", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", "a\nb\nc\n");
  const review = await w.open();
  await turn(review, () => w.write("a.txt", "a\nB\nc\n"));
  await turn(review, () => w.write("a.txt", "a\nBB\nB2\nc\n"));
  const changes = await review.changes();
  assert.deepEqual(shown(changes), ["changed a.txt", "@ lines open", "-b", "+BB", "+B2"]);
  assert.deepEqual(allHunks(changes)[0]?.turns, [1, 2]);
  assert.deepEqual(shown(await review.changes({ turns: [2] })), [
    "changed a.txt",
    "@ lines open",
    "-B",
    "+BB",
    "+B2",
  ]);
  assert.deepEqual(shown(await review.changes({ turns: [1] })).slice(1, 2), [
    "@ lines superseded (turn 2 changed this since)",
  ]);
  await turn(review, () => w.write("a.txt", "a\nb\nc\n"));
  assert.deepEqual((await review.changes()).files, [], "the agent took it back itself");
  await review.undo({ turn: 3 });
  assert.equal(w.read("a.txt"), "a\nBB\nB2\nc\n");
  await review.undo({ turn: 2 });
  assert.equal(w.read("a.txt"), "a\nB\nc\n");
  await review.undo({ turn: 1 });
  assert.equal(w.read("a.txt"), "a\nb\nc\n");
});

test("an undone turn can be put back, and undone again", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", "a\nb\nc\n");
  w.write("d.txt", "d\n");
  const review = await w.open();
  await turn(review, () => {
    w.write("a.txt", "a\nB\nc\n");
    rmSync(w.path("d.txt"));
    w.write("deep/er/new.txt", "n\n");
  });
  const undone = await review.undo({ turn: 1 });
  assert.deepEqual(
    undone.files.map(({ outcome }) => outcome),
    ["undone", "undone", "undone"],
  );
  assert.deepEqual([w.read("a.txt"), w.read("d.txt"), w.has("deep")], ["a\nb\nc\n", "d\n", false]);
  assert.deepEqual(
    allHunks(await review.changes()).map(({ state }) => state),
    ["undone", "undone", "undone"],
  );
  const redone = await review.redo(undone);
  assert.deepEqual(
    redone.files.map(({ outcome }) => outcome),
    ["redone", "redone", "redone"],
  );
  assert.deepEqual([w.read("a.txt"), w.has("d.txt"), w.read("deep/er/new.txt")], ["a\nB\nc\n", false, "n\n"]);
  assert.deepEqual(
    allHunks(await review.changes()).map(({ state }) => state),
    ["open", "open", "open"],
  );
  await assert.rejects(review.redo(undone), /redone already/);
  await review.undo({ turn: 1 });
  assert.deepEqual([w.read("a.txt"), w.read("d.txt"), w.has("deep")], ["a\nb\nc\n", "d\n", false]);
});

test("lines that the user changed after the agent are never overwritten: the hunk is refused", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", numbered(9));
  const review = await w.open();
  await turn(review, () => w.write("a.txt", numbered(9).replace("line 5\n", "x\ny\nz\n")));
  const before = allHunks(await review.changes());
  for (const edit of [
    (text: string) => text.replace("y\n", "mine\n"), // replaced
    (text: string) => text.replace("y\n", "y\nmine\n"), // inside
    (text: string) => text.replace("x\ny\nz\n", "mine\n"), // all of it
    (text: string) => text.replace("x\n", "mine\n"), // at the edge
  ]) {
    const text = numbered(9).replace("line 5\n", "x\ny\nz\n");
    w.write("a.txt", edit(text));
    const { files } = await review.undo({ hunks: before.map(({ id }) => id) });
    assert.deepEqual(
      files.map(({ outcome }) => outcome),
      ["refused"],
      w.read("a.txt"),
    );
    assert.match(files[0]?.reason ?? "", /you changed this since/);
    assert.equal(w.read("a.txt"), edit(text));
    assert.equal(allHunks(await review.changes())[0]?.state, "changed-since");
    w.write("a.txt", text); // the user goes back
    assert.equal(allHunks(await review.changes())[0]?.state, "open");
  }
});

test("what the user reverted by hand is no change any more", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", numbered(9));
  const review = await w.open();
  await turn(review, () => w.write("a.txt", numbered(9).replace("line 5\n", "x\ny\n")));
  w.write("a.txt", numbered(9));
  assert.deepEqual((await review.changes()).files, []);
});

test("a last line without newline never runs into the user's line behind it", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", "end");
  const review = await w.open();
  await turn(review, () => w.write("a.txt", "end\nagent\n"));
  w.write("a.txt", "end\nagent\nmine\n");
  const { files } = await review.undo({ turn: 1 });
  assert.equal(files[0]?.reason, "lines were added behind the end that the file had");
  assert.equal(w.read("a.txt"), "end\nagent\nmine\n");
});

test("kept hunks stay when their turn is undone", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", numbered(20));
  const review = await w.open();
  await turn(review, () =>
    w.write("a.txt", numbered(20).replace("line 3\n", "X\n").replace("line 15\n", "Y\n")),
  );
  const [first] = allHunks(await review.changes());
  assert.equal(await review.keep([first!.id]), 1);
  const { notes } = await review.undo({ turn: 1 });
  assert.deepEqual(notes, ["1 change of this turn was kept and stays."]);
  assert.equal(w.read("a.txt"), numbered(20).replace("line 3\n", "X\n"));
  assert.deepEqual(
    allHunks(await review.changes()).map(({ state }) => state),
    ["kept", "undone"],
  );
});

test("line endings, a missing newline, invalid UTF-8 and empty files are kept byte for byte", async (t) => {
  const w = workspace(t, plain);
  const bytes = Buffer.from([0xff, 0xfe, 0x0a, 0x80, 0x0d, 0x0a, 0x41]);
  w.write("crlf.txt", "a\r\nb\r\nc");
  w.write("bytes.txt", bytes);
  w.write("empty.txt", "");
  w.write("full.txt", "x");
  const review = await w.open();
  await turn(review, () => {
    w.write("crlf.txt", "a\nb\r\nc\r\n");
    w.write("bytes.txt", Buffer.concat([bytes, Buffer.from([0x0a, 0xc3])]));
    w.write("empty.txt", "now\n");
    w.write("full.txt", "");
    w.write("new-empty.txt", "");
  });
  const lines = (await review.changes()).files.find(({ path }) => path.endsWith("crlf.txt"))?.hunks[0]?.lines;
  assert.deepEqual(
    lines?.map(({ kind, ending }) => `${kind} ${JSON.stringify(ending)}`),
    ['removed "\\r\\n"', 'added "\\n"', 'context "\\r\\n"', 'removed ""', 'added "\\r\\n"'],
  );
  const undone = await review.undo({ turn: 1 });
  assert.deepEqual(
    [w.read("crlf.txt"), w.read("empty.txt"), w.read("full.txt"), w.has("new-empty.txt")],
    ["a\r\nb\r\nc", "", "x", false],
  );
  assert.equal(w.read("bytes.txt"), bytes.toString("latin1"));
  await review.redo(undone);
  assert.deepEqual([w.read("full.txt"), w.read("new-empty.txt")], ["", ""]);
});

test("a permission and a link are undone; a file keeps its other permissions", async (t) => {
  const w = workspace(t, plain);
  w.write("run.sh", "#!/bin/sh\n", 0o644);
  w.write("secret.txt", "a\n", 0o600);
  symlinkSync("run.sh", w.path("link"));
  const review = await w.open();
  await turn(review, () => {
    chmodSync(w.path("run.sh"), 0o755);
    w.write("secret.txt", "b\n");
    unlinkSync(w.path("link"));
    symlinkSync("/etc/passwd", w.path("link"));
    symlinkSync("nowhere", w.path("new-link"));
  });
  assert.deepEqual(shown(await review.changes()), [
    "changed link",
    "@ file open (a link to run.sh became a link to /etc/passwd)",
    "created new-link",
    "@ file open (nothing became a link to nowhere)",
    "changed run.sh",
    "@ mode open (made executable)",
    "changed secret.txt",
    "@ lines open",
    "-a",
    "+b",
  ]);
  const undone = await review.undo({ turn: 1 });
  assert.equal(statSync(w.path("run.sh")).mode & 0o777, 0o644);
  assert.equal(statSync(w.path("secret.txt")).mode & 0o777, 0o600);
  assert.equal(readlinkSync(w.path("link")), "run.sh");
  assert.throws(() => lstatSync(w.path("new-link")));
  await review.redo(undone);
  assert.equal(readlinkSync(w.path("link")), "/etc/passwd");
  assert.equal(statSync(w.path("run.sh")).mode & 0o777, 0o755);
});

test("an undo never writes through a folder that became a link", async (t) => {
  const w = workspace(t, plain);
  w.write("dir/a.txt", "a\n");
  const outside = join(w.base, "outside");
  mkdirSync(outside);
  const review = await w.open();
  await turn(review, () => w.write("dir/a.txt", "b\n"));
  rmSync(w.path("dir"), { recursive: true });
  symlinkSync(outside, w.path("dir"));
  const { files } = await review.undo({ turn: 1 });
  assert.deepEqual(
    files.map(({ outcome }) => outcome),
    ["refused"],
  );
  assert.deepEqual(readdirSync(outside), []);
});

test("a renamed file is shown as one, and its undo takes both halves back", async (t) => {
  const w = workspace(t, plain);
  w.write("old.txt", numbered(10));
  const review = await w.open();
  await turn(review, () => {
    rmSync(w.path("old.txt"));
    w.write("new name\n.txt", numbered(10).replace("line 2\n", "two\n"));
  });
  const { files } = await review.changes();
  const renamed = files.find(({ kind }) => kind === "created");
  assert.equal(renamed?.renamedFrom, w.path("old.txt"));
  await review.undo({ hunks: renamed!.hunks.map(({ id }) => id) });
  assert.deepEqual(readdirSync(w.root), ["old.txt"]);
  assert.equal(w.read("old.txt"), numbered(10));
});

test("a new file to which the user added lines keeps them", async (t) => {
  const w = workspace(t, plain);
  const review = await w.open();
  await turn(review, () => w.write("new.txt", "a\nb\n"));
  w.write("new.txt", "a\nb\nmine\n");
  const { files } = await review.undo({ turn: 1 });
  assert.deepEqual(
    files.map(({ outcome }) => outcome),
    ["merged"],
  );
  assert.equal(w.read("new.txt"), "mine\n");
});

test("the agent is told once what was undone, and nothing of what came back before", async (t) => {
  const w = workspace(t, plain);
  w.write("a.txt", "a\n");
  const review = await w.open();
  await turn(review, () => w.write("a.txt", "b\n"));
  assert.equal(review.takeReport(), undefined);
  await review.redo(await review.undo({ turn: 1 }));
  assert.equal(review.takeReport(), undefined);
  const undone = await review.undo({ turn: 1 });
  const report = review.takeReport() ?? "";
  assert.match(report, /took back/);
  assert.ok(report.includes(`- ${w.path("a.txt")} (turn 1)\n    -a\n    +b`), report);
  assert.equal(review.takeReport(), undefined);
  await review.redo(undone);
  assert.match(review.takeReport() ?? "", /put these changes of yours back/);
});

test("an undo waits for nobody: while a turn runs it is an error that says so", async (t) => {
  const w = workspace(t, plain);
  const review = await w.open();
  await turn(review, () => w.write("a.txt", "a\n"));
  await review.beginTurn();
  await assert.rejects(review.undo({ turn: 1 }), /a turn is running; undo when it has ended/);
  await assert.rejects(review.beginTurn(), /call endTurn first/);
  await review.endTurn();
  await assert.rejects(review.endTurn(), /call beginTurn first/);
  await assert.rejects(review.undo({ turn: 7 }), /there is no turn 7; the last one is 2/);
  await assert.rejects(review.undo({ hunks: ["x"] }), /there is no hunk "x"/);
  // started together, one after the other
  const [undone, , ended] = await Promise.all([
    review.undo({ turn: 1 }),
    review.beginTurn(),
    review.endTurn(),
  ]);
  assert.deepEqual([undone.files.length, ended.changes.files.length, w.has("a.txt")], [1, 0, false]);
});

test("the hunks of one insertion that the user split are taken back one by one", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "first\nlast\n");
  const review = await w.open();
  await turn(review, () => w.write("a.txt", `first\n${numbered(10)}last\n`));
  const mine = "mine 1\nmine 2\nmine 3\nmine 4\n";
  w.write("a.txt", w.read("a.txt").replace("line 6\n", `${mine}line 6\n`));
  const hunks = allHunks(await review.changes());
  assert.equal(hunks.length, 2);
  await review.undo({ hunks: [hunks[0]!.id] });
  assert.match(w.read("a.txt"), /mine 4\nline 6\n/);
});
