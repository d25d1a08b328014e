// Tests the lines of tool calls and of the usage.

import assert from "node:assert/strict";
import { test } from "node:test";
import { viewFrom } from "@parley/acp/view";
import { updates } from "../../../acp/test/support/sample-entries.ts";
import { toolLines, usageText } from "./tool-lines.ts";

test("the lines before the shown ones are counted, also those that were dropped", () => {
  const data = Buffer.from("a line of output\n".repeat(1_000)).toString("base64");
  const chunk = { sessionUpdate: "terminal_output_chunk", terminalId: "t", data } as const;
  const view = viewFrom(
    updates(...Array.from({ length: 20 }, () => chunk), {
      sessionUpdate: "tool_call_update",
      toolCallId: "c",
      title: "make",
      status: "completed",
      content: [{ type: "terminal", terminalId: "t" }],
    }),
    { terminalBytes: 1024 },
  );
  const call = view.toolCalls.get("c");
  assert.ok(call);
  const lines = toolLines(call, view, { paint: (_, text) => text, cwd: "/" });
  assert.deepEqual(lines.slice(0, 3), ["✓ make", "    … 19,988 lines before", "    a line of output"]);
});

test("sentences of a tool call break between words, and its terminal output stays as it is", () => {
  const words = `${"word ".repeat(6)}end`;
  const data = Buffer.from(words).toString("base64");
  const view = viewFrom(
    updates(
      { sessionUpdate: "terminal_output_chunk", terminalId: "t", data },
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c",
        title: "make",
        kind: "execute",
        status: "completed",
        content: [
          { type: "terminal", terminalId: "t" },
          { type: "content", content: { type: "text", text: words } },
        ],
      },
    ),
  );
  const call = view.toolCalls.get("c");
  assert.ok(call);
  assert.deepEqual(toolLines(call, view, { paint: (_, text) => text, cwd: "/", columns: 24 }), [
    "✓ make",
    `    ${words}`,
    "    word word word word",
    "    word word end",
  ]);
});

test("a cost has two decimals, or two digits where it is small", () => {
  const shown = (amount: number) =>
    usageText(undefined, { usage: undefined, cost: { amount, currency: "USD" } })[0];
  assert.deepEqual([0, 0.0007000000000000001, 0.0123456, 0.4217, 12.3].map(shown), [
    "0.00 USD",
    "0.0007 USD",
    "0.012 USD",
    "0.42 USD",
    "12.30 USD",
  ]);
});
