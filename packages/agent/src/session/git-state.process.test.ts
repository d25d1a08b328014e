// Tests the note about git: the branch and uncommitted changes, once a turn, without running what a repository configures.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";
import {
  calls,
  inEveryVersion,
  type ScriptedModel,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
} from "../../test/support/agent-probe.ts";
import { stubWrite } from "../../test/support/stub-tools.ts";

const tools = [stubWrite];

function git(cwd: string, ...args: readonly string[]): void {
  const person = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  execFileSync("git", [...person, ...args], { cwd, stdio: "ignore" });
}

function repository(cwd: string): void {
  git(cwd, "init", "-q", "-b", "main");
  git(cwd, "add", ".");
  git(cwd, "commit", "-q", "-m", "first");
}

/** The lines about git that each request has. */
function told({ sent }: ScriptedModel): string[][] {
  return sent.map(({ messages }) =>
    [...JSON.stringify(messages).matchAll(/Git: ([^\\"]*)/g)].map(([, it = ""]) => it),
  );
}

inEveryVersion(
  "the branch and uncommitted changes are told with a turn, and again only when they changed",
  { "a.txt": "a\n" },
  async (setup) => {
    const { cwd } = setup;
    repository(cwd);
    const model = scriptedModel([
      calls(["write", { path: "b.txt", content: "b" }]),
      says("one"),
      says("two"),
      says("three"),
      says("four"),
    ]);
    const { session } = await talk({ ...setup, tools, models: [model], mode: "code" });
    await session.prompt("go").result;
    await session.prompt("more").result;
    await session.prompt("more").result;
    git(cwd, "checkout", "-q", "-b", "feature");
    writeFileSync(join(cwd, "a.txt"), "changed\n");
    await session.prompt("more").result;
    const clean = "branch main, clean";
    const written = "branch main, 1 untracked";
    assert.deepEqual(told(model), [
      [clean],
      [clean],
      [clean, written],
      [clean, written],
      [clean, written, "branch feature, 1 changed, 1 untracked"],
    ]);
  },
);

inEveryVersion(
  "a commit without a branch is named, and no repository is nothing",
  { "a.txt": "a\n" },
  async (setup) => {
    const { cwd } = setup;
    repository(cwd);
    git(cwd, "checkout", "-q", "--detach");
    const model = scriptedModel([says("one"), says("two")]);
    const { session } = await talk({ ...setup, tools, models: [model] });
    await session.prompt("go").result;
    assert.match(told(model)[0]?.[0] ?? "", /^no branch, commit [0-9a-f]{10}, clean$/);
    rmSync(join(cwd, ".git"), { recursive: true });
    const later = await talk({ ...setup, tools, models: [model] });
    await later.session.prompt("go").result;
    assert.deepEqual(told(model)[1], []);
  },
);

inEveryVersion(
  "a repository cannot make the agent run its programs",
  { "a.txt": "a\n", ".gitattributes": "* filter=evil\n" },
  async (setup) => {
    const { cwd } = setup;
    const ran = join(cwd, "ran");
    repository(cwd);
    writeFileSync(join(cwd, "evil.sh"), `#!/bin/sh\ntouch '${ran}'\ncat\n`, { mode: 0o755 });
    git(cwd, "config", "core.fsmonitor", join(cwd, "evil.sh"));
    const model = scriptedModel([says("one"), says("two")]);
    const { session } = await talk({ ...setup, tools, models: [model] });
    writeFileSync(join(cwd, "a.txt"), "changed\n");
    await session.prompt("go").result;
    assert.deepEqual(told(model)[0], ["branch main, 1 changed, 1 untracked"]);
    assert.equal(existsSync(ran), false, "no file system monitor");
    git(cwd, "config", "core.fsmonitor", "false");
    git(cwd, "config", "filter.evil.clean", join(cwd, "evil.sh"));
    await session.prompt("more").result;
    assert.equal(existsSync(ran), false, "no filter");
  },
);

inEveryVersion(
  "a config that is swapped while the agent asks git runs nothing",
  { "a.txt": "a\n", ".gitattributes": "* filter=evil\n" },
  async (setup) => {
    const { cwd, context } = setup;
    const ran = join(cwd, "ran");
    repository(cwd);
    const aside = temporaryFolder(context, {});
    const evil = join(aside, "evil.sh");
    writeFileSync(evil, `#!/bin/sh\ntouch '${ran}'\ncat\n`, { mode: 0o755 });
    writeFileSync(join(cwd, "config"), `[filter "evil"]\n\tclean = ${evil}\n`);
    // what a command in the background does: the filter is there whenever git looks at files, and gone before
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const swap = `case "$*" in *status*) cat '${cwd}/config' >> '${cwd}/.git/config' ;; esac`;
    gitAt(context, aside, `${swap}\nexec '${real}' "$@"`);
    writeFileSync(join(cwd, "a.txt"), "changed\n");
    const model = scriptedModel([says("one")]);
    const { session } = await talk({ ...setup, tools, models: [model] });
    await session.prompt("go").result;
    assert.deepEqual(told(model)[0], ["branch main, 1 changed, 1 untracked"]);
    assert.equal(existsSync(ran), false);
  },
);

/** Puts a program in the place of git. */
function gitAt(context: TestContext, folder: string, script: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "git"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const { PATH = "" } = process.env;
  process.env["PATH"] = `${folder}${delimiter}${PATH}`;
  context.after(() => {
    process.env["PATH"] = PATH;
  });
}

inEveryVersion(
  "TH16 a repository cannot make git fetch with its programs, nor take the place of git",
  { "a.txt": "a\n", "sub/b.txt": "b\n" },
  async (setup) => {
    const { cwd, context } = setup;
    const ran = join(cwd, "ran");
    repository(cwd);
    const evil = join(cwd, "evil.sh");
    writeFileSync(evil, `#!/bin/sh\ntouch '${ran}'\nexit 1\n`, { mode: 0o755 });
    // a clone without its objects, which git would fetch to compare
    const settings = {
      "core.repositoryFormatVersion": "1",
      "extensions.partialClone": "origin",
      "remote.origin.promisor": "true",
      "remote.origin.url": "ssh://example.org/a",
      "core.sshCommand": evil,
    };
    for (const [name, value] of Object.entries(settings)) git(cwd, "config", name, value);
    const tree = execFileSync("git", ["rev-parse", "HEAD^{tree}"], { cwd, encoding: "utf8" }).trim();
    rmSync(join(cwd, ".git/objects", tree.slice(0, 2), tree.slice(2)));
    gitAt(context, join(cwd, "node_modules/.bin"), `touch '${ran}'`);
    const model = scriptedModel([says("one"), says("two")]);
    for (const folder of [cwd, join(cwd, "sub")]) {
      const { session } = await talk({ ...setup, cwd: folder, tools, models: [model] });
      await session.prompt("go").result;
    }
    assert.equal(existsSync(ran), false);
  },
);

inEveryVersion("a git that takes too long is asked once", { "log.txt": "" }, async (setup) => {
  const { cwd, context } = setup;
  repository(cwd);
  // it waits for the end of a pipe that nobody ends
  const slow = `echo x >> '${join(cwd, "log.txt")}'\nexec tail -f /dev/null`;
  gitAt(context, temporaryFolder(context, {}), slow);
  const model = scriptedModel([says("one"), says("two")]);
  const { session } = await talk({ ...setup, tools, models: [model] });
  await session.prompt("go").result;
  assert.equal((await session.prompt("more").result).stopReason, "end_turn");
  assert.equal(readFileSync(join(cwd, "log.txt"), "utf8"), "x\n");
});
