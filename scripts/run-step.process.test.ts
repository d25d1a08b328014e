import assert from "node:assert/strict";
import { test } from "node:test";
import type { Step } from "./check-steps.ts";
import { runStep } from "./run-step.ts";

/** A step of tests whose only process runs this script. */
function step(script: string): Step {
  const summary = "console.log('# pass 1'); console.log('# fail 0');";
  const plan = () => ({ commands: [["--input-type=module", "-e", `${script}\n${summary}`]] });
  return { name: "sample", tests: true, plan };
}

const environment = process.env;

test("tests that leave a temporary folder fail their step, which says which one", async () => {
  const makes = `import { mkdtempSync } from "node:fs"; import { tmpdir } from "node:os";
    for (const name of ["parley-chat-", "parley-chat-", "else-"]) mkdtempSync(tmpdir() + "/" + name);`;
  const left = await runStep(step(makes), { environment, live: false });
  assert.equal(left.ok, false);
  assert.match(left.output, /the tests left 2 temporary folders: parley-chat-\*\./);
  const clean = await runStep(step(""), { environment, live: false });
  assert.equal(clean.ok, true, clean.output);
  assert.deepEqual(clean.tests, { pass: 1, fail: 0 });
});

test("a process of tests that does not end is ended, and its step fails and says so", async () => {
  const stuck = await runStep(step("setInterval(() => undefined, 1_000);"), {
    environment,
    live: false,
    limitMs: 500,
  });
  assert.equal(stuck.ok, false);
  assert.match(stuck.output, /it did not end within 0\.5 s, and was ended/);
  assert.match(stuck.output, /sample ended with signal SIGTERM/);
});
