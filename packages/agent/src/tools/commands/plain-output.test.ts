import assert from "node:assert/strict";
import { test } from "node:test";
import { growthOf } from "../../../../acp/test/support/growth.ts";
import { plainOutput } from "./command-output.ts";

test("colours, titles and links of a terminal are left out", () => {
  assert.equal(
    plainOutput("\u001b[1;31mred\u001b[0m \u001b]0;title\u0007plain\u001b]8;;http://x\u001b\\link\u001b(B\n"),
    "red plainlink\n",
  );
});

test("only the last state of a progress bar is kept", () => {
  assert.equal(plainOutput("10%\r50%\r100%\r\ndone\r\n"), "100%\ndone\n");
});

test("a long line without an end takes linear time", () => {
  const line = "x".repeat(1_000_000);
  assert.equal(plainOutput(`a\rb\n${line}`), `b\n${line}`);
  assert.equal(plainOutput("\u001b[".repeat(100_000)), "");
  // each begins something that never ends
  for (const part of ["x", "\u001b[", "\u001b]", "x\r", "\r"]) {
    const growth = growthOf(100_000, (count) => plainOutput(part.repeat(count)));
    assert.ok(growth < 10, `${JSON.stringify(part)}: four times the length costs ${growth} times as much`);
  }
});
