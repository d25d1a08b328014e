// Prompts that are longer than the model's window, with our own agent: the user's words count, whatever comes with them.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const own = (args: readonly string[], input = "") =>
  probe.parley(["run", "--no-history", ...args], { input });

test(
  "a text that is too long is shortened, the words beside it are not, and it is said",
  patience,
  async () => {
    writeFileSync(join(probe.cwd, "a.txt"), "zebra\n");
    const big = "a line of a long log that nobody reads\n".repeat(60_000);
    for (const format of ["text", "quiet"]) {
      const { status, stdout, stderr } = await own(["--format", format, "read a.txt"], big);
      assert.equal(status, 0, stderr);
      assert.match(stdout, /zebra/);
      assert.doesNotMatch(stdout, /did not understand/);
      const told = `${stdout}${stderr}`.match(
        /attached:1 is too long for the model: it gets the beginning and the end, 400 KB of 2\.3 MB/g,
      );
      assert.equal(told?.length, 1, stderr);
    }
  },
);

test("words of the user are never a summary, however many they are", patience, async () => {
  writeFileSync(join(probe.cwd, "a.txt"), "zebra\n");
  const file = join(probe.folder, "long.md");
  writeFileSync(file, `read a.txt\n${"something that no rule is about\n".repeat(40_000)}`);
  const { status, stdout, stderr } = await own(["--file", file]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /did not understand “something that no rule is about”, so I did nothing/);
  assert.doesNotMatch(stdout, /zebra/);
  assert.ok(stdout.length < 5_000, stdout.slice(0, 500));
});

test("each line of a prompt is a step, also where it begins with then", patience, async () => {
  writeFileSync(join(probe.cwd, "a.txt"), "zebra\n");
  writeFileSync(join(probe.cwd, "b.txt"), "giraffe\n");
  const { stdout } = await own(["read a.txt\nThen read b.txt"]);
  assert.match(stdout, /zebra/);
  assert.match(stdout, /giraffe/);
  const wrong = await own(["read a.txt\nthen fly to the moon"]);
  assert.match(wrong.stdout, /I did not understand “fly to the moon”, so I did nothing\./);
  assert.doesNotMatch(wrong.stdout, /zebra/);
});
