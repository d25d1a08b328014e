// `parley demo` through the launcher, as a new user starts it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { TmuxProbe, withoutTmux } from "../../test/support/tmux-probe.ts";

const launcher = join(import.meta.dirname, "../../bin/parley");
const temporary = mkdtempSync(join(tmpdir(), "parley-demo-test-"));
after(() => rmSync(temporary, { recursive: true, force: true }));
const patience = { timeout: 120_000 };

function parley(args: readonly string[]) {
  const env = { ...process.env, PARLEY_HOME: join(temporary, "home") };
  return spawnSync(launcher, args, { encoding: "utf8", cwd: temporary, env, input: "" });
}

test("a reader that stops early, such as head, gets no stack, and nothing is left behind", patience, () => {
  const env = { ...process.env, TMPDIR: mkdtempSync(join(temporary, "early-")) };
  const script = `{ "${launcher}" demo; echo "exit $?" >&2; } | head -n 2`;
  const { stdout, stderr } = spawnSync("/bin/sh", ["-c", script], { encoding: "utf8", env });
  assert.match(stdout, /^An agent at work/);
  assert.equal(stderr, "exit 141\n");
  assert.deepEqual(readdirSync(env.TMPDIR), []);
});

test("without a terminal the demo shows a whole turn and the next steps", patience, () => {
  const { status, stdout, stderr } = parley(["demo"]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /◐ read notes\.txt/, "a plan");
  assert.match(
    stdout,
    /✓ Edit notes\.txt\n {4}notes\.txt\n {4}1 {3}Shopping\n[\s\S]* {4}4 - - bread\n {4}4 \+ - two loaves of bread\n/,
    "a tool call with its diff",
  );
  assert.match(stdout, /Replaced `bread` with `two loaves of bread`/, "an answer");
  // not a terminal, so no colours
  assert.equal(stdout.includes("\u001b"), false);
});

test("the next steps of the demo can be typed as they are printed", patience, () => {
  const path = process.env["PATH"]?.split(":").filter((folder) => !folder.endsWith("/.bin"));
  const { stdout } = parley(["demo"]);
  const [, typed = ""] = /^ {2}(.+) --help$/m.exec(stdout) ?? [];
  const env = { ...process.env, PATH: path?.join(":") };
  const help = spawnSync("/bin/sh", ["-c", `${typed} --help`], { encoding: "utf8", cwd: temporary, env });
  assert.match(help.stdout, /^usage: parley COMMAND/m, typed);
});

test("at a terminal of 80 columns the demo breaks no word, and its examples stand apart", {
  ...patience,
  skip: withoutTmux(),
}, async (t) => {
  const env = { PARLEY_HOME: join(temporary, "home") };
  const tmux = await TmuxProbe.open(t, { cwd: temporary, columns: 80, rows: 30, env });
  await tmux.send(`${launcher} demo`);
  const shown = await tmux.shows(/parley · Ask · Offline/);
  assert.match(shown, /Type a command, for example:\n\n {2}read notes\.txt\n {2}replace .*\n\nParley /);
  await tmux.press("C-d");
  await tmux.shows(/all commands[\s\S]*shell>/);
});

test("demo --json is one object per line, and the last says how it ended", patience, () => {
  const { status, stdout, stderr } = parley(["demo", "--json"]);
  assert.equal(status, 0, stderr);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(lines.every(({ v }) => v === 1));
  assert.partialDeepStrictEqual(lines.at(-1), { type: "end", exitCode: 0 });
});
