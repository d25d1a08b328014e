// Repositories that want to run something when git looks at them. Nothing of theirs may run.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { repositoryFiles, repositoryStatus } from "@parley/review";
import { allHunks, turn, type Workspace, workspace } from "../test/support/workspace.ts";

/** A program that leaves a mark when it runs, and passes its input on. */
function trap(w: Workspace): string {
  const program = join(w.base, "trap.sh");
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${w.base}/ran\ncat\n`, { mode: 0o755 });
  return program;
}

/** Everything that a review does, and what of it ran. */
async function useAll(w: Workspace): Promise<string> {
  const review = await w.open();
  await turn(review, async () => {
    w.write("a.txt", "changed\n");
    w.write("new.txt", "new\n");
    await review.protect(w.path("ignored.env"));
    w.write("ignored.env", "x\n");
  });
  const changes = await review.changes();
  assert.equal(changes.files.length, 3, review.notCovered.join("\n"));
  const undone = await review.undo({ hunks: allHunks(changes).map(({ id }) => id) });
  assert.deepEqual([...new Set(undone.files.map(({ outcome }) => outcome))], ["undone"]);
  await review.redo(undone);
  await review.close();
  const ran = join(w.base, "ran");
  return existsSync(ran) ? readFileSync(ran, "utf8") : "";
}

function prepared(t: Parameters<typeof workspace>[0]): Workspace {
  const w = workspace(t);
  w.write("a.txt", "a\n");
  w.write(".gitignore", "*.env\n");
  w.git("add", "-A");
  w.git("commit", "-qm", "first");
  return w;
}

const settings: Readonly<Record<string, (program: string) => readonly (readonly string[])[]>> = {
  "core.fsmonitor": (program) => [["core.fsmonitor", program]],
  "core.hooksPath": (program) => [["core.hooksPath", join(program, "../project/hooks")]],
  "filters and their process": (program) => [
    ["filter.x.clean", program],
    ["filter.x.smudge", program],
    ["filter.x.process", program],
    ["filter.x.required", "true"],
    ["filter.lfs.clean", program],
  ],
  "textconv and external diff": (program) => [
    ["diff.x.textconv", program],
    ["diff.x.command", program],
    ["diff.external", program],
  ],
  "pager, editor, askpass, ssh and proxy": (program) => [
    ["core.pager", program],
    ["pager.log", program],
    ["core.editor", program],
    ["core.askPass", program],
    ["core.sshCommand", program],
    ["core.gitProxy", program],
    ["credential.helper", program],
  ],
  signatures: (program) => [
    ["commit.gpgsign", "true"],
    ["gpg.program", program],
    ["log.showSignature", "true"],
  ],
  aliases: (program) => [
    ["alias.diff-files", `!${program}`],
    ["alias.write-tree", `!${program}`],
  ],
  "lazy fetches": (program) => [
    ["extensions.partialClone", "origin"],
    ["remote.origin.promisor", "true"],
    ["remote.origin.url", `ext::${program}`],
    ["protocol.ext.allow", "always"],
    ["core.repositoryFormatVersion", "1"],
  ],
};

for (const [name, lines] of Object.entries(settings)) {
  test(`a repository cannot run anything by ${name}`, async (t) => {
    const w = prepared(t);
    const program = trap(w);
    for (const [key, value] of lines(program)) w.git("config", key!, value!);
    mkdirSync(w.path("hooks"));
    for (const hook of [
      "post-index-change",
      "pre-commit",
      "fsmonitor-watchman",
      "reference-transaction",
      "post-checkout",
    ]) {
      for (const folder of [w.path(".git/hooks"), w.path("hooks")]) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, hook), readFileSync(program), { mode: 0o755 });
      }
    }
    writeFileSync(w.path(".git/info/attributes"), "* filter=x diff=x\n*.txt filter=lfs\n");
    w.write(".gitattributes", "* filter=x diff=x text\n");
    rmSync(join(w.base, "ran"), { force: true });
    assert.equal(await useAll(w), "");
    // the trap works: git itself falls into it
    if (!/fsmonitor|hooksPath|filters/.test(name)) return;
    try {
      w.git("add", "-A");
    } catch {
      // a filter process that does not speak its protocol
    }
    assert.ok(existsSync(join(w.base, "ran")), "git ran nothing, so the test proves nothing");
  });
}

test("a hostile submodule runs nothing either", async (t) => {
  const w = prepared(t);
  const program = trap(w);
  execFileSync("git", ["init", "-q", w.path("sub")], { env: w.env });
  w.write("sub/s.txt", "s\n");
  const inSub = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=u", "-c", "user.email=u@e", ...args], {
      cwd: w.path("sub"),
      env: w.env,
    });
  inSub("add", "-A");
  inSub("commit", "-qm", "s");
  w.git("add", "sub");
  w.git("commit", "-qm", "with sub");
  inSub("config", "core.fsmonitor", program);
  writeFileSync(w.path(".gitmodules"), '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n');
  rmSync(join(w.base, "ran"), { force: true });
  const review = await w.open();
  const { changes } = await turn(review, () => w.write("sub/s.txt", "changed\n"));
  assert.equal(changes.files.length, 1);
  await review.undo({ turn: 1 });
  assert.equal(existsSync(join(w.base, "ran")), false);
});

test("a git in the workspace is not started, even if PATH names it first", async (t) => {
  const w = prepared(t);
  w.write("bin/git", `#!/bin/sh\necho ran >> ${w.base}/ran\nexit 1\n`, 0o755);
  w.git("add", "-A");
  w.git("commit", "-qm", "bin");
  const env = { ...w.env, PATH: `.:bin:${w.path("bin")}:${process.env["PATH"]}` };
  assert.equal(await useAll({ ...w, open: (more) => w.open({ env, ...more }) }), "");
});

test("a git in the workspace is not started through a link: in PATH, or in the name of the workspace", async (t) => {
  const w = prepared(t);
  w.write("bin/git", `#!/bin/sh\necho ran >> ${w.base}/ran\nexit 1\n`, 0o755);
  const [bin, named] = [join(w.base, "bin"), join(w.base, "named")];
  symlinkSync(w.path("bin"), bin);
  symlinkSync(w.root, named);
  w.git("add", "-A");
  w.git("commit", "-qm", "bin");
  for (const [folder, root] of [
    [bin, w.root],
    [w.path("bin"), named],
    [join(named, "bin"), w.root],
  ] as const) {
    const env = { ...w.env, PATH: `${folder}:${process.env["PATH"]}` };
    assert.equal(await useAll({ ...w, open: (more) => w.open({ env, roots: [root], ...more }) }), "", folder);
    assert.equal((await repositoryStatus({ folder: root, env }))?.branch, "main");
    assert.equal((await repositoryFiles({ folder: root, env }))?.length, 4);
    assert.equal(existsSync(join(w.base, "ran")), false);
    for (const made of ["new.txt", "ignored.env"]) rmSync(w.path(made), { force: true });
    w.git("checkout", "-q", "--", ".");
  }
});

const waited = [
  ".gitignore",
  ".gitattributes",
  ".gitmodules",
  "sub/.gitignore",
  "sub/.gitattributes",
  ".git/objects/info/alternates",
  ".git/objects/info/commit-graph",
  ".git/objects/pack/pack-x.idx",
];

for (const file of waited) {
  for (const kind of ["a pipe", "a device"]) {
    test(`${kind} in the place of ${file} holds neither a turn nor an undo, and is named`, async (t) => {
      const w = prepared(t);
      w.write("sub/a.txt", "a\n");
      w.git("add", "-A");
      w.git("commit", "-qm", "sub");
      const review = await w.open();
      await turn(review, () => w.write("a.txt", "changed\n"));
      rmSync(w.path(file), { force: true });
      if (kind === "a pipe") execFileSync("mkfifo", [w.path(file)]);
      else symlinkSync("/dev/zero", w.path(file));
      const started = performance.now();
      const { changes, notes } = await turn(review, async () => {
        await review.protect(w.path("b.env"));
        w.write("b.env", "b\n");
      });
      const said = notes.join("\n");
      assert.ok(said.includes(`${w.path(file)} is ${kind}, and git would wait for it; remove it`), said);
      // a file that was named before it was written is covered without git
      assert.deepEqual(
        changes.files.map(({ path }) => path),
        [w.path("b.env")],
      );
      const { files } = await review.undo({ turn: 1 });
      assert.deepEqual(
        files.map(({ outcome }) => outcome),
        ["undone"],
      );
      await repositoryStatus({ folder: w.root, env: w.env, signal: AbortSignal.timeout(1_000) });
      assert.ok(performance.now() - started < 8_000, "git was not started to wait");
      rmSync(w.path(file));
      const after = await turn(review, () => w.write("a.txt", "again\n"));
      assert.deepEqual(
        after.changes.files.map(({ path }) => path),
        [w.path("a.txt")],
        "covered again when it is gone",
      );
    });
  }
}

test("a pipe where nobody looked before is found while git waits, and git waits for it only once", async (t) => {
  const w = prepared(t);
  const review = await w.open();
  mkdirSync(w.path("new"));
  execFileSync("mkfifo", [w.path("new/.gitignore")]);
  const started = performance.now();
  const { notes } = await turn(review, () => w.write("a.txt", "changed\n"));
  assert.match(notes.join("\n"), /new\/\.gitignore is a pipe, and git would wait for it; remove it/);
  await turn(review, () => w.write("a.txt", "again\n"));
  assert.ok(performance.now() - started < 8_000, "git was ended before its time was over");
});

test("the text of a file outside that .git/info/exclude links to is not copied", async (t) => {
  const w = prepared(t);
  const secret = join(w.base, "secret");
  writeFileSync(secret, "the secret of the user\n");
  rmSync(w.path(".git/info/exclude"), { force: true });
  symlinkSync(secret, w.path(".git/info/exclude"));
  const review = await w.open();
  await turn(review, () => w.write("a.txt", "changed\n"));
  const stored = readdirSync(w.home, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  const copies = stored.filter((each) =>
    readFileSync(join(each.parentPath, each.name), "latin1").includes("the secret"),
  );
  assert.deepEqual(copies, []);
});

test("the branch, the changes and the files of a repository are told without running anything of it", async (t) => {
  const w = prepared(t);
  const program = trap(w);
  w.write("sub/b.txt", "b\n");
  w.git("add", "-A");
  w.git("commit", "-qm", "sub");
  w.write("a.txt", "changed\n");
  w.write("new/n.txt", "n\n");
  w.write("x.env", "ignored\n");
  w.write(".gitattributes", "* filter=x diff=x\n");
  for (const key of ["core.fsmonitor", "filter.x.clean", "filter.x.process", "core.pager"])
    w.git("config", key, program);
  const question = { folder: w.path("sub"), env: w.env };
  const status = await repositoryStatus(question);
  const commit = w.git("-c", "core.fsmonitor=false", "rev-parse", "HEAD").trim();
  assert.deepEqual(status, { branch: "main", commit, changed: 1, untracked: 2 });
  assert.deepEqual(await repositoryFiles(question), ["b.txt"]);
  const all = await repositoryFiles({ ...question, folder: w.root });
  assert.deepEqual(all?.toSorted(), [".gitattributes", ".gitignore", "a.txt", "new/n.txt", "sub/b.txt"]);
  assert.equal(existsSync(join(w.base, "ran")), false);
  assert.equal(await repositoryStatus({ folder: w.base, env: w.env }), undefined);
});

test("a damaged index is said to be not covered, and the turn goes on", async (t) => {
  const w = prepared(t);
  writeFileSync(w.path(".git/index"), "DIRC and then nonsense");
  const review = await w.open();
  const { changes } = await turn(review, () => w.write("a.txt", "changed\n"));
  assert.deepEqual(changes.files, []);
  assert.match(review.notCovered.join("\n"), /turn 1 is not covered: git ls-files ended with 128/);
});

test("core.worktree, a .git file that leads elsewhere and a linked .gitignore change nothing outside", async (t) => {
  const w = prepared(t);
  const outside = join(w.base, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "o.txt"), "o\n");
  w.git("config", "core.worktree", outside);
  const review = await w.open();
  const { changes } = await turn(review, () => {
    w.write("a.txt", "changed\n");
    writeFileSync(join(outside, "o.txt"), "changed\n");
    symlinkSync(outside, w.path("link"));
  });
  assert.deepEqual(
    changes.files.map(({ path }) => path),
    [w.path("a.txt"), w.path("link")],
  );
  await review.undo({ turn: 1 });
  assert.equal(w.read("a.txt"), "a\n");
  assert.deepEqual(readdirSync(outside), ["o.txt"]);
});

test("a repository of another user is covered", {
  skip: process.getuid?.() === 0 ? false : "needs root to give files away",
}, async (t) => {
  const w = prepared(t);
  execFileSync("chown", ["-R", "12345:12345", w.root]);
  assert.throws(() => w.git("status"), /dubious ownership/);
  assert.equal(await useAll(w), "");
});
