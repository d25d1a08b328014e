// The comparison with the official schemas again, with ten times the samples. It has a process to itself because
// it takes a core for a minute, which the tests that share one would have to wait for.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const suite = join(import.meta.dirname, "differential.test.ts");

test("1,000 samples of every definition get the verdict and the value of ajv with the official schema (X2, X10)", {
  timeout: 600_000,
}, async () => {
  // without NODE_TEST_CONTEXT the suite reports to people, not to the runner above it
  const { NODE_TEST_CONTEXT: _, PARLEY_SAMPLES = "1000", ...environment } = process.env;
  const { stdout } = await run(
    process.execPath,
    ["--conditions=parley-source", "--test-reporter=spec", suite],
    { env: { ...environment, PARLEY_SAMPLES }, maxBuffer: 64 * 1024 * 1024 },
  ).catch((error: Error & { stdout?: string }) => assert.fail(error.stdout ?? error.message));
  assert.match(stdout, /^ℹ fail 0$/m);
  assert.match(stdout, /^ℹ pass [1-9]\d*$/m);
});
