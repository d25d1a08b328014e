// Tests the lines of tool calls and of the usage.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryBody } from "@parley/acp/model";
import { viewFrom } from "@parley/acp/view";
import { entriesOf, updates } from "../../../acp/test/support/sample-entries.ts";
import { painter } from "../terminal/paint.ts";
import { toolCard } from "./tool-card.ts";
import { usageText } from "./usage-text.ts";

const plain = { width: Number.POSITIVE_INFINITY, paint: painter(false, {}), cwd: "/", isPlain: true };

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
  const lines = toolCard(call, view, plain);
  assert.deepEqual(lines.slice(0, 3), ["✓ make", "    … 19,988 lines before", "    a line of output"]);
});

test("the share of cached input is shown, and a count that cannot be is not", () => {
  const shown = (cachedReadTokens: number) => {
    const usage = { totalTokens: 1_100, inputTokens: 1_000, outputTokens: 100, cachedReadTokens };
    return usageText(usage, { usage: undefined, cost: undefined })[0];
  };
  assert.deepEqual([910, 0, 5_000, Number.NaN].map(shown), [
    "1,100 tokens (91 % cached)",
    ...Array.from({ length: 3 }, () => "1,100 tokens"),
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

test("the time of a call is without the time in which the user was asked, and a refused call says so", () => {
  const toolCall = { toolCallId: "c", title: "Edit a.txt", status: "pending" } as const;
  const options = [
    { optionId: "y", name: "Yes", kind: "allow_once" },
    { optionId: "n", name: "No", kind: "reject_once" },
  ] as const;
  const subject = { type: "tool_call", toolCall } as const;
  const bodies = (optionId: string): EntryBody[] => [
    { kind: "update", update: { sessionUpdate: "tool_call_update", ...toolCall } },
    { kind: "ask", askId: "1", permission: { title: "Edit?", subject, options } },
    { kind: "answer", askId: "1", permission: { outcome: "selected", optionId } },
    {
      kind: "update",
      update: {
        sessionUpdate: "tool_call_update",
        toolCallId: "c",
        status: optionId === "y" ? "completed" : "cancelled",
      },
    },
  ];
  const times = [1_000, 2_000, 27_000, 28_000];
  const drawn = (optionId: string, count = 4) => {
    const entries = entriesOf(bodies(optionId)).map((entry, at) => ({ ...entry, time: times[at] ?? 0 }));
    const view = viewFrom(entries.slice(0, count));
    const call = view.toolCalls.get("c");
    assert.ok(call);
    return toolCard(call, view, { ...plain, isPlain: false, width: 60, now: 20_000 })[0];
  };
  assert.match(drawn("y") ?? "", /Edit a\.txt {2}1\.0 s$/);
  assert.match(drawn("n") ?? "", /Edit a\.txt \(refused\)$/);
});
