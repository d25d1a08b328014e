// What git keeps in a repository while it works, and what a command can make of it.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { inSandbox } from "../test/support/required-sandbox.ts";
import { git, put, runIn, workplace } from "../test/support/workplace.ts";

const env = {
  GIT_AUTHOR_NAME: "t",
  GIT_AUTHOR_EMAIL: "t@example.org",
  GIT_COMMITTER_NAME: "t",
  GIT_COMMITTER_EMAIL: "t@example.org",
  GIT_EDITOR: "true",
};

/** A repository whose branch `topic` conflicts with `main` in its first of two commits. */
function diverged(t: TestContext) {
  const place = workplace(t);
  const { work } = place;
  git(work, "config", "--unset", "core.hooksPath");
  git(work, "checkout", "-qb", "main");
  const commit = (text: string, file = "file") => {
    put(work, { [file]: text });
    git(work, "add", file);
    git(work, "commit", "-qm", `${file} ${text}`);
  };
  commit("1\n");
  git(work, "checkout", "-qb", "topic");
  commit("topic\n");
  commit("x\n", "other");
  git(work, "checkout", "-q", "main");
  commit("main\n");
  git(work, "checkout", "-q", "topic");
  return place;
}

const left = ({ findings }: Awaited<ReturnType<typeof runIn>>) => findings.left.map(({ path }) => path);

test(
  "a rebase works in the sandbox, also over several commands, and nothing is told of it",
  inSandbox,
  async (t) => {
    const { work, open } = diverged(t);
    const sandbox = await open();
    const stopped = await runIn(sandbox, "git rebase -q main", { cwd: work, env });
    assert.match(stopped.stdout + stopped.stderr, /CONFLICT/);
    assert.ok(existsSync(join(work, ".git/rebase-merge/git-rebase-todo")));
    assert.deepEqual([left(stopped), stopped.findings.movedAside], [[], []]);
    const script = "echo both >file && git add file && git rebase --continue && git log --format=%s";
    const done = await runIn(sandbox, script, { cwd: work, env });
    assert.match(done.stdout, /other x\nfile topic\nfile main\n/);
    assert.deepEqual([left(done), done.findings.movedAside], [[], []]);
    assert.ok(!existsSync(join(work, ".git/rebase-merge")));
  },
);

test(
  "commands that a command adds to a rebase of the user are told, since git would run them outside",
  inSandbox,
  async (t) => {
    const { base, work, open } = diverged(t);
    git(work, "worktree", "add", "-q", join(base, "tree"));
    assert.throws(() => git(work, "rebase", "-q", "-x", "true", "main"));
    const sandbox = await open();
    const todo = join(work, ".git/rebase-merge/git-rebase-todo");
    const kept = await runIn(sandbox, "cat .git/rebase-merge/git-rebase-todo", { cwd: work });
    assert.match(kept.stdout, /^exec true$/m);
    assert.deepEqual(left(kept), []);
    const added = await runIn(sandbox, `printf '\\tx evil\\n' >>${todo}`, { cwd: work });
    assert.deepEqual(added.findings.left, [
      { path: todo, reason: "git rebase --continue would run the commands in it, outside the sandbox" },
    ]);
    // it is told once
    assert.deepEqual(left(await runIn(sandbox, "true", { cwd: work })), []);
    const hidden = await runIn(sandbox, `mv ${todo} list && ln -s "$PWD/list" ${todo}`, { cwd: work });
    assert.deepEqual(left(hidden), [todo]);
    const other = join(work, ".git/worktrees/tree/rebase-merge");
    const planted = await runIn(sandbox, `mkdir ${other}; echo 'exec evil' >${other}/git-rebase-todo`, {
      cwd: work,
    });
    assert.deepEqual(left(planted), [join(other, "git-rebase-todo")]);
  },
);

test("the settings of a worktree are protected like those of its repository", inSandbox, async (t) => {
  const { base, work, open } = diverged(t);
  git(work, "config", "extensions.worktreeConfig", "true");
  for (const name of ["one", "two"]) git(work, "worktree", "add", "-q", "--detach", join(base, name));
  git(join(base, "one"), "config", "--worktree", "core.abbrev", "9");
  const [one = "", two = ""] = ["one", "two"].map((name) =>
    join(work, ".git/worktrees", name, "config.worktree"),
  );
  const before = readFileSync(one, "utf8");
  const sandbox = await open();
  const script = [one, two].map((path) => `git config -f ${path} core.fsmonitor evil`).join("; ");
  const { findings } = await runIn(sandbox, script, { cwd: work });
  assert.deepEqual(findings.movedAside.map(({ from }) => from).sort(), [one, two]);
  assert.equal(readFileSync(one, "utf8"), before);
  assert.ok(!existsSync(two));
  const removed = await runIn(sandbox, `git worktree prune; rm -rf .git/worktrees/one`, { cwd: work });
  assert.deepEqual([left(removed), removed.findings.movedAside], [[], []]);
});

test(
  "hooks and settings that a file names are protected in every work tree, also if other files name that file",
  inSandbox,
  async (t) => {
    const { base, work, open } = diverged(t);
    put(work, {
      "shared/one.inc": "[include] path = two.inc ; more\n",
      "shared/two.inc": '[core]\n\thooksPath = "shared/hooks" # ours\n',
      "shared/hooks/pre-commit": "kept",
    });
    git(work, "config", "include.path", "../shared/one.inc");
    git(work, "add", "shared");
    git(work, "-c", "core.hooksPath=none", "commit", "-qm", "shared");
    const tree = join(base, "tree");
    git(work, "worktree", "add", "-q", "--detach", tree);
    const script =
      "for each in shared/two.inc shared/hooks/pre-commit shared/hooks/new; do (echo evil >$each) && echo $each; done";
    for (const root of [work, tree]) {
      const { stdout } = await runIn(await open({ roots: [root] }), `${script} 2>/dev/null`, { cwd: root });
      // the settings of a linked work tree are those of the repository
      assert.equal(stdout, root === work ? "" : "shared/two.inc\n");
    }
  },
);
