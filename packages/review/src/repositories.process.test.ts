// Snapshots of git repositories of every kind: byte-exact, without touching anything of the user's.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { allHunks, numbered, shown, turn, type Workspace, workspace } from "../test/support/workspace.ts";

function committed(w: Workspace): void {
  w.git("add", "-A");
  w.git("commit", "-qm", "first");
}

/** A turn that changes `a.txt`, adds a file and removes one; its undo gives back what was there. */
async function takesBackATurn(w: Workspace, root = w.root): Promise<void> {
  const file = (name: string) => join(root, name);
  writeFileSync(file("b.txt"), "untracked\n");
  const before = readFileSync(file("a.txt"));
  const review = await w.open({ roots: [root] });
  const { changes } = await turn(review, () => {
    writeFileSync(file("a.txt"), "changed\n");
    writeFileSync(file("new.txt"), "new\n");
    rmSync(file("b.txt"));
  });
  assert.deepEqual(
    changes.files.map(({ kind, path }) => `${kind} ${path}`),
    [`changed ${file("a.txt")}`, `deleted ${file("b.txt")}`, `created ${file("new.txt")}`],
    review.notCovered.join("\n"),
  );
  const { files } = await review.undo({ turn: 1 });
  assert.deepEqual(
    files.map(({ outcome }) => outcome),
    ["undone", "undone", "undone"],
  );
  assert.deepEqual(
    [readFileSync(file("a.txt")), readFileSync(file("b.txt"), "utf8")],
    [before, "untracked\n"],
  );
  assert.throws(() => statSync(file("new.txt")));
  await review.close();
}

test("a repository is left as it was: index, objects, config, refs", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "a\n");
  committed(w);
  const state = () =>
    readdirSync(w.path(".git"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => `${path} ${statSync(path).mtimeMs} ${statSync(path).size}`);
  const before = state();
  await takesBackATurn(w);
  assert.deepEqual(state(), before);
});

test("a repository without commits, without index and without identity is covered", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "a\n");
  await takesBackATurn(w);
});

test("files that git converts are kept byte for byte: autocrlf, eol, ident, encodings, filters of the same size", async (t) => {
  const w = workspace(t);
  w.write(
    ".gitattributes",
    "*.crlf eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16LE\n*.rot filter=rot\n* text=auto\n",
  );
  w.git("config", "core.autocrlf", "true");
  w.git("config", "filter.rot.clean", "tr a-z b-za");
  w.git("config", "filter.rot.smudge", "tr b-za a-z");
  const contents: Record<string, string | Buffer> = {
    "a.txt": "a\r\nb\r\n",
    "mixed.txt": "a\r\nb\n",
    "b.crlf": "x\r\ny\r\n",
    "c.id": "$Id: 0123456789 $\n",
    "d.u16": Buffer.from("hé\n", "utf16le"),
    "e.rot": "secret\n",
  };
  for (const [name, content] of Object.entries(contents)) w.write(name, content);
  committed(w);
  w.git("status");
  const review = await w.open();
  const { changes } = await turn(review, () => {
    for (const name of Object.keys(contents))
      w.write(name, Buffer.concat([readFileSync(w.path(name)), Buffer.from("more\r\n")]));
  });
  assert.deepEqual(
    changes.files.filter(({ path }) => !path.endsWith("u16")).map(({ added, removed }) => [added, removed]),
    [
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
    ],
  );
  await review.undo({ turn: 1 });
  for (const [name, content] of Object.entries(contents))
    assert.deepEqual(readFileSync(w.path(name)), Buffer.from(content), name);
});

test("file names with spaces, newlines, quotes and bytes that are not UTF-8 are covered", async (t) => {
  const w = workspace(t);
  const names = [
    Buffer.from("a b.txt"),
    Buffer.from("new\nline"),
    Buffer.from('"q\\'),
    Buffer.from([0x66, 0xff, 0xfe]),
    Buffer.from("ä/ö.txt"),
  ];
  const path = (name: Buffer) => Buffer.concat([Buffer.from(`${w.root}/`), name]);
  mkdirSync(w.path("ä"));
  for (const name of names) writeFileSync(path(name), "before\n");
  committed(w);
  const review = await w.open();
  const { changes } = await turn(review, () => {
    for (const name of names) writeFileSync(path(name), "after\n");
  });
  assert.equal(changes.files.length, names.length);
  await review.undo({ hunks: allHunks(await review.changes()).map(({ id }) => id) });
  for (const name of names) assert.equal(readFileSync(path(name), "utf8"), "before\n", name.toString());
});

test("binary files are undone as a whole, and only if nobody changed them since", async (t) => {
  const w = workspace(t);
  w.write("a.bin", Buffer.from([0, 1, 2]));
  w.write("b.bin", Buffer.from([0, 1, 2]));
  w.write("big.txt", numbered(300_000));
  committed(w);
  const review = await w.open();
  await turn(review, () => {
    w.write("a.bin", Buffer.from([0, 1, 3]));
    w.write("b.bin", Buffer.from([0, 1, 3]));
    w.write("big.txt", "small\n");
  });
  await turn(review, () => w.write("a.bin", Buffer.from([0, 1, 4, 4])));
  w.write("b.bin", Buffer.from([0, 9]));
  assert.deepEqual(
    (await review.changes()).files.map(({ hunks }) => hunks.map(({ kind, state }) => `${kind} ${state}`)),
    [["file open"], ["file changed-since"], ["file open"]],
  );
  const { files } = await review.undo({ hunks: allHunks(await review.changes()).map(({ id }) => id) });
  assert.deepEqual(
    files.map(({ outcome }) => outcome),
    ["undone", "refused", "undone"],
  );
  assert.deepEqual(readFileSync(w.path("a.bin")), Buffer.from([0, 1, 2]));
  assert.deepEqual(readFileSync(w.path("b.bin")), Buffer.from([0, 9]));
  assert.equal(w.read("big.txt"), numbered(300_000));
});

test("submodules and nested repositories are covered each by themselves; a new one is named", async (t) => {
  const w = workspace(t);
  const library = join(w.base, "library");
  execFileSync("git", ["init", "-q", library], { env: w.env });
  writeFileSync(join(library, "lib.txt"), "lib\n");
  const inLibrary = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=u", "-c", "user.email=u@e", ...args], { cwd: library, env: w.env });
  inLibrary("add", "-A");
  inLibrary("commit", "-qm", "lib");
  w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "sub");
  w.write("a.txt", "a\n");
  committed(w);
  execFileSync("git", ["init", "-q", w.path("inner")], { env: w.env });
  execFileSync("git", ["init", "-q", w.path("inner/most")], { env: w.env });
  w.write("inner/i.txt", "i\n");
  w.write("inner/most/m.txt", "m\n");
  const review = await w.open();
  const { changes, notes } = await turn(review, () => {
    for (const name of ["a.txt", "sub/lib.txt", "inner/i.txt", "inner/most/m.txt"])
      w.write(name, "changed\n");
    execFileSync("git", ["init", "-q", w.path("fresh")], { env: w.env });
    w.write("fresh/f.txt", "f\n");
  });
  assert.deepEqual(
    changes.files.map(({ path }) => path.slice(w.root.length + 1)),
    ["a.txt", "inner/i.txt", "inner/most/m.txt", "sub/lib.txt"],
  );
  assert.deepEqual(notes, [`${w.path("fresh")} became a repository in this turn. Undo does not remove it.`]);
  await review.undo({ turn: 1 });
  assert.deepEqual(["a.txt", "sub/lib.txt", "inner/i.txt", "inner/most/m.txt"].map(w.read), [
    "a\n",
    "lib\n",
    "i\n",
    "m\n",
  ]);
  const second = await turn(review, () => w.write("fresh/f.txt", "g\n"));
  assert.deepEqual(shown(second.changes), ["changed f.txt", "@ lines open", "-f", "+g"]);
});

test("linked worktrees, split indexes, version 4, sparse checkouts, assumed files and sha256 are covered", async (t) => {
  const linked = workspace(t);
  linked.write("a.txt", "a\n");
  committed(linked);
  linked.git("worktree", "add", "-q", join(linked.base, "linked"), "-b", "other");
  await takesBackATurn(linked, join(linked.base, "linked"));

  const split = workspace(t);
  split.write("a.txt", "a\n");
  committed(split);
  split.git("update-index", "--split-index");
  split.write("c.txt", "c\n");
  split.git("add", "c.txt");
  await takesBackATurn(split);

  const four = workspace(t);
  four.write("a.txt", "a\n");
  committed(four);
  four.git("update-index", "--index-version", "4");
  await takesBackATurn(four);

  const sparse = workspace(t);
  sparse.write("a.txt", "a\n");
  sparse.write("in/x.txt", "x\n");
  sparse.write("out/y.txt", "y\n");
  committed(sparse);
  sparse.git("sparse-checkout", "set", "--cone", "--sparse-index", "in");
  assert.equal(sparse.has("out/y.txt"), false);
  await takesBackATurn(sparse);

  const assumed = workspace(t);
  assumed.write("a.txt", "a\n");
  committed(assumed);
  assumed.git("update-index", "--assume-unchanged", "a.txt");
  await takesBackATurn(assumed);

  const sha256 = workspace(t, { git: false });
  sha256.env["PATH"] = process.env["PATH"];
  sha256.git("init", "-q", "--object-format=sha256");
  sha256.write("a.txt", "a\n");
  committed(sha256);
  await takesBackATurn(sha256);
});

test("a merge with conflicts, a locked index and a path in a subfolder are no obstacle", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "a\n");
  committed(w);
  w.git("checkout", "-qb", "other");
  w.write("a.txt", "other\n");
  w.git("commit", "-qam", "other");
  w.git("checkout", "-q", "main");
  w.write("a.txt", "main\n");
  w.git("commit", "-qam", "main");
  assert.throws(() => w.git("merge", "-q", "other"));
  writeFileSync(w.path(".git/index.lock"), "");
  await takesBackATurn(w);
  mkdirSync(w.path("sub/folder"), { recursive: true });
  const review = await w.open({ roots: [w.path("sub/folder")] });
  assert.equal((await turn(review, () => w.write("a.txt", "x\n"))).changes.files.length, 1);
});

test("a change that keeps size and time is seen, as git sees it", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "aaaa\n");
  committed(w);
  const { mtime, atime } = statSync(w.path("a.txt"));
  const review = await w.open();
  const { changes } = await turn(review, () => {
    w.write("a.txt", "bbbb\n");
    utimesSync(w.path("a.txt"), atime, mtime);
  });
  assert.deepEqual(shown(changes), ["changed a.txt", "@ lines open", "-aaaa", "+bbbb"]);
});

test("commits and installs are not undone, and the turn says so", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "a\n");
  w.write(".gitignore", "node_modules\n");
  committed(w);
  const review = await w.open();
  const { notes } = await turn(review, () => {
    w.write("a.txt", "b\n");
    w.git("commit", "-qam", "the agent's commit");
    w.write("node_modules/x/index.js", "1\n");
  });
  assert.equal(notes.length, 2);
  assert.match(notes[0]!, /Undo does not take back commits\. This commit stays: \w+ the agent's commit\./);
  assert.match(notes[1]!, /node_modules\. Undo does not take back installs\./);
  const head = w.git("rev-parse", "HEAD");
  const result = await review.undo({ turn: 1 });
  assert.deepEqual(result.notes, notes);
  assert.deepEqual([w.read("a.txt"), w.git("rev-parse", "HEAD")], ["a\n", head]);
});

test("large and many untracked files are left out by name, and never look new or deleted", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "a\n");
  committed(w);
  w.write("big.dat", "x".repeat(5000));
  for (let i = 0; i < 30; i += 1) w.write(`many/${i}.txt`, "m\n");
  const review = await w.open({ limits: { untrackedFileBytes: 4000, untrackedFiles: 20 } });
  const first = await turn(review, () => {
    w.write("big.dat", "y");
    w.write("many/1.txt", "n\n");
    rmSync(w.path("many/2.txt"));
    w.write("few.txt", "f\n");
  });
  assert.deepEqual(shown(first.changes), ["created few.txt", "@ lines open", "+f"]);
  const sentences = review.notCovered.join("\n");
  assert.match(sentences, /files over 4 KiB are not covered: big\.dat \(5 KiB\)/);
  assert.match(sentences, /more than 20 untracked files\. These are not covered: many\/ \(30 files\)/);
  const second = await turn(review, () => w.write("few.txt", "z".repeat(5000)));
  assert.deepEqual(second.changes.files, []);
});

test("an ignored file is restored if it was protected before it was written", async (t) => {
  const w = workspace(t);
  w.write(".gitignore", "*.env\nout/\n");
  w.write("a.txt", "a\n");
  committed(w);
  w.write("x.env", "KEY=1\n");
  w.write("y.env", "KEY=1\n");
  const review = await w.open();
  assert.match(review.notCovered.join("\n"), /Ignored files are covered only if/);
  await turn(review, async () => {
    assert.deepEqual(
      [
        await review.protect(w.path("x.env")),
        await review.protect(w.path("a.txt")),
        await review.protect(w.path("n.env")),
      ],
      [true, true, true],
    );
    assert.equal(await review.protect(w.path(".git/config")), false);
    assert.equal(await review.protect(join(w.base, "elsewhere.txt")), false);
    for (const name of ["x.env", "y.env", "n.env"]) w.write(name, "KEY=2\n");
  });
  const { files } = await review.changes();
  assert.deepEqual(
    files.map(({ path, kind }) => `${kind} ${path.slice(-5)}`),
    ["created n.env", "changed x.env"],
  );
  await review.undo({ turn: 1 });
  assert.deepEqual([w.read("x.env"), w.read("y.env"), w.has("n.env")], ["KEY=1\n", "KEY=2\n", false]);
});

test("files that become folders, links that become files and renamed folders are taken back", async (t) => {
  const w = workspace(t);
  w.write("thing", "file\n");
  w.write("dir/a.txt", numbered(5));
  w.write("run.sh", "x\n");
  committed(w);
  const review = await w.open();
  await turn(review, () => {
    rmSync(w.path("thing"));
    w.write("thing/inner.txt", "i\n");
    renameSync(w.path("dir"), w.path("moved"));
    chmodSync(w.path("run.sh"), 0o755);
  });
  const { files } = await review.changes();
  assert.equal(files.find(({ path }) => path === w.path("moved/a.txt"))?.renamedFrom, w.path("dir/a.txt"));
  await review.undo({ hunks: allHunks({ files, added: 0, removed: 0 }).map(({ id }) => id) });
  assert.deepEqual(
    [w.read("thing"), w.read("dir/a.txt"), w.has("moved/a.txt"), statSync(w.path("run.sh")).mode & 0o111],
    ["file\n", numbered(5), false, 0],
  );
});

test("files that the user ignores in this clone or everywhere are not covered, and those that they track anyway are", async (t) => {
  const w = workspace(t);
  w.write("a.txt", "a\n");
  committed(w);
  writeFileSync(w.path(".git/info/exclude"), "*.clone\n");
  mkdirSync(join(w.base, "user/.config/git"), { recursive: true });
  writeFileSync(join(w.base, "user/.config/git/ignore"), "*.everywhere\n");
  const names = ["x.clone", "x.everywhere", "forced.clone"];
  for (const name of names) w.write(name, "1\n");
  const review = await w.open();
  const change = (text: string) => turn(review, () => names.forEach((name) => void w.write(name, text)));
  assert.deepEqual((await change("2\n")).changes.files, []);
  w.git("add", "--force", "forced.clone");
  assert.deepEqual(shown((await change("3\n")).changes), [
    "changed forced.clone",
    "@ lines open",
    "-2",
    "+3",
  ]);
});

test("what the user commits, checks out or stashes between turns is not the agent's", async (t) => {
  const w = workspace(t);
  w.write("a.txt", numbered(9));
  w.write("b.txt", "b\n");
  committed(w);
  w.git("branch", "other");
  const review = await w.open();
  await turn(review, () => w.write("a.txt", numbered(9).replace("line 5\n", "agent\n")));
  w.git("commit", "-qam", "the user commits it");
  w.git("checkout", "-q", "other");
  assert.deepEqual((await review.changes()).files, [], "the file is as it was");
  w.git("checkout", "-q", "main");
  assert.equal(allHunks(await review.changes())[0]?.state, "open");
  w.write("b.txt", "user\n");
  w.git("stash", "-q");
  const second = await turn(review, () => w.write("a.txt", w.read("a.txt").replace("line 8\n", "again\n")));
  assert.deepEqual([second.changes.files.length, second.notes], [1, []]);
  assert.deepEqual(
    shown(await review.changes()).filter((line) => /^[+-]/.test(line)),
    ["-line 5", "+agent", "-line 8", "+again"],
  );
});

test("a repository in a folder with a colon and quotes in its name is covered", async (t) => {
  const w = workspace(t);
  const root = join(w.base, 'a:"b\\ c');
  execFileSync("git", ["init", "-q", root], { env: w.env });
  writeFileSync(join(root, "a.txt"), "a\n");
  execFileSync("git", ["add", "-A"], { cwd: root, env: w.env });
  await takesBackATurn(w, root);
});
