// Where a prompt may come from, and what is refused before an agent sees it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { patience, RunProbe } from "../../test/support/run-probe.ts";
import { exitCodes } from "../live/live-error.ts";

const probe = new RunProbe();
const echo = probe.agent([{ say: "{{prompt}}" }]);

function fifo(name: string): string {
  execFileSync("mkfifo", ["-m", "600", join(probe.cwd, name)]);
  return name;
}

test("a pipe as --file to which nobody writes keeps nobody from ending the run", patience, async () => {
  const args = ["run", "--timeout", "500ms", "--file", fifo("silent"), "--", ...echo];
  const { status, stderr } = await probe.parley(args);
  assert.equal(status, exitCodes.timeout, stderr);
});

test("stdin on which nothing comes keeps nobody from ending the run", patience, async () => {
  const line = `run --timeout 500ms - -- "$@" <>${fifo("quiet")}`;
  const { status, stderr } = await probe.typed(line, echo);
  assert.equal(status, exitCodes.timeout, stderr);
});

test("a pipe as --file is read to its end, whenever somebody begins to write", patience, async () => {
  const name = fifo("written");
  const line = `run -f quiet --file ${name} -- "$@" & printf 'from\\na pipe' >${name}; wait $!`;
  const { status, stdout, stderr } = await probe.typed(line, echo);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /from\na pipe/);
});

test("several files are one prompt in their order, and lines end as everywhere else", patience, async () => {
  writeFileSync(join(probe.cwd, "one.txt"), "first\r\nsecond");
  writeFileSync(join(probe.cwd, "two.txt"), "third");
  const files = ["--file", "one.txt", "--file", "two.txt"];
  const { status, stdout, stderr } = await probe.parley(["run", "-f", "quiet", ...files, "--", ...echo]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /first\nsecond\n\nthird/);
});

for (const [what, bytes] of [
  ["bytes that are no UTF-8", Buffer.from([0x68, 0xff, 0xfe])],
  ["a zero byte", Buffer.from("read a\0b.txt")],
] as const) {
  test(`${what} in a prompt are refused, with what to do instead`, patience, async () => {
    writeFileSync(join(probe.cwd, "binary"), bytes);
    for (const line of ['run --file binary -- "$@"', 'run "look at this" -- "$@" <binary']) {
      const { status, stderr } = await probe.typed(line, echo);
      assert.equal(status, exitCodes.usage, stderr);
      assert.match(stderr, /is not UTF-8 text\n.*--image FILE.*@FILE/);
    }
  });
}

test("a source without an end is refused", patience, async () => {
  const { status, stderr } = await probe.parley(["run", "--file", "/dev/zero", "--", ...echo]);
  assert.equal(status, exitCodes.usage);
  assert.match(stderr, /--file \/dev\/zero is larger than 16 MiB/);
});
