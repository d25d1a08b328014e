// Completion as a shell asks for it: the script is sourced by a real bash, and its function is called.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { launcher } from "../../../acp/test/support/programs.ts";

const temporary = mkdtempSync(join(tmpdir(), "parley-completion-test-"));
after(() => rmSync(temporary, { recursive: true, force: true }));
symlinkSync(launcher, join(temporary, "parley"));
writeFileSync(join(temporary, "notes.txt"), "");
const env = {
  ...process.env,
  PATH: `${temporary}:${process.env.PATH}`,
  PARLEY_HOME: join(temporary, "home"),
};

function parley(...args: readonly string[]) {
  return spawnSync(launcher, args, { encoding: "utf8", cwd: temporary, env });
}

/** What bash would offer for the last of these words. */
function offered(...words: readonly string[]): string[] {
  const script = `source <(parley completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script, "bash", "parley", ...words], {
    encoding: "utf8",
    cwd: temporary,
    env,
  });
  assert.equal(stderr, "");
  return stdout.split("\n").filter((word) => word !== "");
}

test("bash completes commands, their second words, and their options", () => {
  assert.deepEqual(offered("ses"), ["sessions"]);
  assert.deepEqual(offered("sessions", "sh"), ["show"]);
  assert.deepEqual(offered("run", "--ti"), ["--timeout"]);
  assert.deepEqual(offered("help", "ru"), ["run"]);
  assert.deepEqual(offered("help", "sessions", "s"), ["show", "search"]);
  assert.ok(!offered("").includes("completion-words"), "what people do not start is not offered");
});

test("bash completes values: words, agents, files", () => {
  assert.deepEqual(offered("run", "--format", "q"), ["quiet"]);
  assert.deepEqual(offered("run", "--format", "=", "q"), ["quiet"], "as bash splits --format=q");
  assert.deepEqual(offered("run", "--format", "="), ["text", "json", "quiet"]);
  assert.deepEqual(offered("run", "-a", "cla"), ["claude"]);
  assert.deepEqual(offered("run", "--file", "no"), ["notes.txt"]);
  assert.deepEqual(offered("run", "x", "--", "sh", "no"), ["notes.txt"], "of another program too");
});

test("bash completes what is typed without a command: agents, the options of chat, and -p", () => {
  assert.deepEqual(offered("cla"), ["claude"]);
  assert.deepEqual(offered("--cont"), ["--continue"]);
  assert.deepEqual(offered("--pri"), ["--print"]);
  assert.deepEqual(offered("claude", "--cont"), ["--continue"]);
  assert.deepEqual(offered("-c", "--agent", "gem"), ["gemini"]);
  assert.deepEqual(offered("-p", "--form"), ["--format"]);
});

test("every shell gets every command and option", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { status, stdout } = parley("completion", shell);
    assert.equal(status, 0);
    for (const word of ["sessions", "export", "timeout", "completion-words sessions"]) {
      assert.ok(stdout.includes(word), `${shell}: ${word}`);
    }
  }
});

test("a shell that nobody knows exits with 2 and says which there are", () => {
  const { status, stderr } = parley("completion", "tcsh");
  assert.equal(status, 2);
  assert.match(stderr, /expected a shell \(bash, zsh, fish\), got tcsh/);
});
