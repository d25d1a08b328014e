// Tests what a failed gate prints.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { TestEvent } from "node:test/reporters";
import failures from "./failures-reporter.ts";

const file = join(process.cwd(), "a.test.ts");

function failed(name: string, nesting: number, error: object): unknown {
  return { type: "test:fail", data: { name, nesting, file, line: 7, details: { error } } };
}

/** What is printed for these events, of which only the used parts are there. */
async function printed(...events: readonly unknown[]): Promise<string> {
  async function* source(): AsyncGenerator<TestEvent> {
    yield* events as TestEvent[];
  }
  let text = "";
  for await (const piece of failures(source())) text += piece;
  return text;
}

const passed = (name: string) => ({ type: "test:pass", data: { name, nesting: 0, file, details: {} } });
const started = (name: string, nesting: number) => ({ type: "test:start", data: { name, nesting, file } });

test("only failures are printed, with file, whole name and error, and then the counts", async () => {
  const cause = Object.assign(new Error("1 is not 2"), { stack: "Error: 1 is not 2\n    at a.test.ts:9" });
  const output = await printed(
    passed("fine"),
    { type: "test:stdout", data: { file, message: "noise\n" } },
    started("outer", 0),
    started("inner", 1),
    failed("inner", 1, { failureType: "testCodeFailure", cause }),
    failed("outer", 0, { failureType: "subtestsFailed", cause: "1 subtest failed" }),
  );
  assert.equal(
    output,
    "✖ a.test.ts:7: outer > inner\n    Error: 1 is not 2\n        at a.test.ts:9\n\n" +
      "ℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 0\n",
  );
});

test("a file that breaks outside of its tests says why", async () => {
  const output = await printed(
    { type: "test:stderr", data: { file: "a.test.ts", message: "Error: at load\n" } },
    started("a.test.ts", 0),
    failed("a.test.ts", 0, { failureType: "testCodeFailure", cause: "test failed" }),
  );
  assert.match(output, /^✖ a\.test\.ts:7: a\.test\.ts\n {4}test failed\n {4}Error: at load\n/);
});
