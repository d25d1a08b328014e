// `parley run` as scripts use it: the real command, on pipes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const launcher = join(import.meta.dirname, "../../bin/parley");
const temporary = realpathSync(mkdtempSync(join(tmpdir(), "parley-run-test-")));
after(() => rmSync(temporary, { recursive: true, force: true }));
const cwd = join(temporary, "project");
mkdirSync(cwd);
writeFileSync(join(cwd, "notes.txt"), "hello world\n");
const env = { ...process.env, PARLEY_HOME: join(temporary, "home"), PARLEY_MODEL: "offline" };

function parley(args: readonly string[], input = "") {
  return spawnSync(launcher, args, { encoding: "utf8", cwd, env, input, timeout: 60_000 });
}

test("our own agent answers offline, out of the box", () => {
  const { status, stdout, stderr } = parley(["run", "read notes.txt"]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^✓ Read notes\.txt\n\n`notes\.txt`:\n```\nhello world\n```\n/);
  assert.equal(stderr, "");
});
