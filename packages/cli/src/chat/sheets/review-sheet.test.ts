import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type FileChange, type Hunk, openReview } from "@parley/review";
import { SheetProbe, sheetSizes } from "../../../test/support/sheet-probe.ts";
import { ReviewSheet } from "./review-sheet.ts";
import type { ReviewChanges, ReviewResult, ReviewSource } from "./review-source.ts";

const hunk = (id: string, more: Partial<Hunk> = {}): Hunk => ({
  id,
  kind: "lines",
  state: "open",
  about: undefined,
  turns: [1],
  oldStart: 10,
  newStart: 12,
  lines: [
    { kind: "context", text: "before", ending: "\n" },
    { kind: "removed", text: `old ${id}`, ending: "\n" },
    { kind: "added", text: `new ${id}`, ending: "\n" },
  ],
  added: 1,
  removed: 1,
  ...more,
});
const file = (path: string, hunks: readonly Hunk[], more: Partial<FileChange> = {}): FileChange => ({
  path,
  kind: "changed",
  renamedFrom: undefined,
  hunks,
  added: 1,
  removed: 1,
  ...more,
});

/** Remembers what was asked of it, and does it. */
class FakeReview implements ReviewSource {
  notCovered: readonly string[] = [];
  calls: string[] = [];
  result: Omit<ReviewResult, "id"> = { files: [], notes: [] };
  #files: readonly FileChange[];

  constructor(files: readonly FileChange[]) {
    this.#files = files;
  }

  async changes(): Promise<ReviewChanges> {
    return { files: this.#files, added: 5, removed: 3 };
  }

  async keep(hunks: readonly string[]): Promise<number> {
    this.calls.push(`keep ${hunks}`);
    return this.#set(hunks, "kept");
  }

  async undo({ hunks }: { readonly hunks: readonly string[] }): Promise<ReviewResult> {
    this.calls.push(`undo ${hunks}`);
    this.#set(hunks, "undone");
    return { id: 7, ...this.result };
  }

  async redo({ id }: Pick<ReviewResult, "id">): Promise<ReviewResult> {
    this.calls.push(`redo ${id}`);
    return { id, files: [{ path: "/p/a.ts", outcome: "redone", reason: undefined }], notes: [] };
  }

  #set(ids: readonly string[], state: Hunk["state"]): number {
    this.#files = this.#files.map((each) => ({
      ...each,
      hunks: each.hunks.map((one) => (ids.includes(one.id) ? { ...one, state } : one)),
    }));
    return ids.length;
  }
}

async function reviewed(
  files: readonly FileChange[],
  change: (review: FakeReview) => void = () => undefined,
) {
  const review = new FakeReview(files);
  change(review);
  const events: string[] = [];
  const sheet = new ReviewSheet({
    paint: (_, text) => text,
    review,
    cwd: "/p",
    closed: () => events.push("closed"),
    redraw: () => undefined,
    said: ({ text }) => events.push(text),
  });
  const probe = new SheetProbe(sheet);
  /** Presses keys and waits for what they do. */
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) {
      probe.press(key);
      await new Promise(setImmediate);
    }
    return probe.text();
  };
  await press();
  await new Promise(setImmediate);
  return { review, probe, press, events };
}

const two = [file("/p/a.ts", [hunk("1"), hunk("2")]), file("/p/b.ts", [hunk("3")], { kind: "created" })];

test("the review shows counts, the file, and the hunks with the current one marked", async () => {
  const { probe } = await reviewed(two, (review) => {
    review.notCovered = ["/p/big is too large."];
  });
  const lines = probe.lines(100, 16);
  assert.deepEqual(lines.slice(0, 9), [
    "│ Review  2 files +5 -3 · 3 open · not everything is covered (i)",
    "│ a.ts  +2 -2 · file 1 of 2, hunk 1 of 2",
    "│ ┃ line 13 · turn 1 · open",
    "│ ┃ 12   before",
    "│ ┃ 11 - old 1",
    "│ ┃ 13 + new 1",
    "│",
    "│   line 13 · turn 1 · open",
    "│   12   before",
  ]);
  assert.equal(lines.length, 16, "all rows are taken");
  assert.match(lines.at(-1) ?? "", /a keep {2}u undo/);
});

test("keys move between hunks and files", async () => {
  const { press } = await reviewed(two);
  assert.match(await press("j"), /hunk 2 of 2/);
  assert.match(await press("down"), /b\.ts \(created\).*file 2 of 2, hunk 1 of 1/);
  assert.match(await press("k"), /a\.ts.*hunk 2 of 2/);
  assert.match(await press("["), /a\.ts.*hunk 1 of 2/);
  assert.match(await press("]"), /b\.ts/);
});

test("a hunk or a whole file is kept or undone, and the next open hunk follows", async () => {
  const { press, review } = await reviewed(two, (fake) => {
    fake.result = {
      files: [{ path: "/p/a.ts", outcome: "merged", reason: undefined }],
      notes: ["A commit stays."],
    };
  });
  const kept = await press("a");
  assert.match(kept, /2 open, 1 kept[\s\S]*hunk 2 of 2/);
  const undone = await press("u");
  assert.match(undone, /b\.ts[\s\S]*a\.ts: merged, your own changes stayed; A commit stays\./);
  assert.deepEqual(review.calls, ["keep 1", "undo 2"]);
  assert.match(await press("z"), /redone in a\.ts/);
  const all = await reviewed(two);
  await all.press("A");
  await all.press("R");
  assert.deepEqual(all.review.calls, ["keep 1,2", "undo 3"]);
});

test("what is refused says why, and what cannot be undone is not asked for", async () => {
  const files = [
    file("/p/a.ts", [hunk("1"), hunk("2", { state: "changed-since", about: "you edited line 12" })]),
  ];
  const { press, review } = await reviewed(files, (fake) => {
    fake.result = { files: [{ path: "/p/a.ts", outcome: "refused", reason: "the file is gone" }], notes: [] };
  });
  assert.match(await press("u"), /not undone in a\.ts: the file is gone/);
  assert.match(await press("j", "u"), /It cannot be undone: you edited line 12/);
  assert.match(await press("z"), /Nothing was undone here/);
  assert.deepEqual(review.calls, ["undo 1"]);
});

test("an error of the review is shown, and the review stays open", async () => {
  const { press } = await reviewed(two, (fake) => {
    fake.undo = () => Promise.reject(new Error("the disk is full"));
  });
  assert.match(await press("u"), /the disk is full/);
  const { probe } = await reviewed(two, (fake) => {
    fake.changes = () => Promise.reject(new Error("the disk is full"));
  });
  assert.match(probe.text(), /the changes cannot be shown[\s\S]*the disk is full/);
});

test("a comment goes to the agent with its place", async () => {
  const { press, events } = await reviewed(two);
  assert.match(await press("c", "why?"), /Comment: why\?$/);
  assert.match(await press("enter"), /The agent gets your comment/);
  await press("c", "never", "escape");
  assert.deepEqual(events, ["About your change of a.ts, line 13: why?"]);
});

test("what is not covered is shown on request, and q goes back and then closes", async () => {
  const { press, events } = await reviewed(two, (fake) => {
    fake.notCovered = ["/p/big is larger than 10 MiB."];
  });
  assert.match(await press("i"), /big is larger than 10 MiB/);
  await press("u");
  assert.match(await press("q"), /a\.ts/);
  assert.deepEqual(events, []);
  await press("q");
  assert.deepEqual(events, ["closed"]);
});

test("TH5 hostile paths and lines stay in their rows, and a folded line looks like no other, at every size", async () => {
  const text = `x\u001b[2J\u202e${"y".repeat(300)}+ evil`;
  const lines = [{ kind: "added", text, ending: "\n" }] as const;
  const many = Array.from({ length: 30 }, (_, at) => hunk(`h${at}`, { lines }));
  const { probe } = await reviewed([file("/p/a\u001b]0;t\u0007\n.ts", many)]);
  for (const [columns, rows] of sheetSizes) assert.equal(probe.lines(columns, rows).length, rows);
  assert.equal(probe.lines(60, 400).filter((line) => /^│ [┃ ] 12 \+/.test(line)).length, 30);
});

test("without changes the review says so", async () => {
  assert.match((await reviewed([])).probe.text(), /nothing was changed/);
});

test("with a real review, what is undone is gone from the file, comes back, and the user's own lines stay", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "review-sheet-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const root = join(folder, "root");
  await mkdir(root);
  const path = join(root, "a.txt");
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  const text = (changed: Readonly<Record<number, string>>) =>
    lines.map((line, at) => `${changed[at] ?? line}\n`).join("");
  await writeFile(path, text({}));
  // without a PATH there is no git, and so no process
  await using review = await openReview({ roots: [root], stateFolder: join(folder, "home"), env: {} });
  await review.beginTurn();
  await writeFile(path, text({ 3: "first", 30: "second" }));
  await review.endTurn();
  await writeFile(path, text({ 3: "first", 18: "of the user", 30: "second" }));
  let drawn = Promise.withResolvers<void>();
  const redraw = () => drawn.resolve();
  const ignored = () => undefined;
  const sheet = new ReviewSheet({
    paint: (_, each) => each,
    review,
    cwd: root,
    closed: ignored,
    redraw,
    said: ignored,
  });
  const probe = new SheetProbe(sheet);
  const settled = async () => {
    await drawn.promise;
    drawn = Promise.withResolvers<void>();
    return probe.text();
  };
  assert.match(await settled(), /1 file \+2 -2 · 2 open/);
  probe.press("j", "u");
  assert.match(await settled(), /1 open, 1 undone/);
  assert.equal(await readFile(path, "utf8"), text({ 3: "first", 18: "of the user" }));
  probe.press("z");
  assert.match(await settled(), /redone in a\.txt/);
  assert.equal(await readFile(path, "utf8"), text({ 3: "first", 18: "of the user", 30: "second" }));
  probe.press("A");
  assert.match(await settled(), /2 kept/);
  probe.press("u");
  assert.match(probe.text(), /What was kept is not undone here any more/);
});

test("a kept hunk still says how much it changed, in which line, and ? lists the keys", async () => {
  const kept = hunk("1", { state: "kept" });
  const { press, probe } = await reviewed([file("/p/a.ts", [kept], { added: 0, removed: 0 })]);
  assert.match(probe.text(), /a\.ts {2}\+1 -1[\s\S]*line 13 · turn 1 · ✓ kept/);
  assert.match(probe.text(), /A\/U whole file/);
  assert.match(await press("?"), /U or R: undo all hunks of this file/);
  assert.match(await press("q"), /line 13/);
});
