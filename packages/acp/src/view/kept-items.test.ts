// What a view keeps of a session that is longer than its limit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, text } from "../../test/support/sample-entries.ts";
import type { EntryBody } from "../model/entry.ts";
import type { SessionUpdate } from "../model/update.ts";
import { changesSince, type SessionView, snapshot, viewFrom } from "../view.ts";

const limit = 100_000;
const kilobyte = "0123456789abcdef".repeat(64);

function view(list: readonly SessionUpdate[], timelineBytes: number | undefined): SessionView {
  const bodies: EntryBody[] = list.map((update) => ({ kind: "update", update }));
  return viewFrom(entriesOf(bodies), { timelineBytes });
}

const call = (at: number, more: object = {}): SessionUpdate => ({
  sessionUpdate: "tool_call_update",
  toolCallId: `c${at}`,
  status: "completed",
  locations: [{ path: `/p/${at}` }],
  rawOutput: kilobyte,
  ...more,
});

const chunk = (value: string, messageId = "m"): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  messageId,
  content: text(value),
});

const many = (count: number, make: (at: number) => SessionUpdate) =>
  Array.from({ length: count }, (_, at) => make(at));

test("a view with a limit keeps the last items and counts those that it dropped", () => {
  const kept = view(many(1_000, call), limit);
  assert.equal(kept.dropped + kept.timeline.length, 1_000);
  assert.ok(kept.timeline.length > 30 && kept.timeline.length < 100, String(kept.timeline.length));
  assert.equal(kept.timeline.at(-1)?.key, "tool_call:c999");
  // nothing else remembers them
  assert.equal(kept.toolCalls.size, kept.timeline.length);
  assert.equal(kept.files.size, kept.timeline.length);
  assert.ok(changesSince(kept, 0).length < 2 * kept.timeline.length + 10);
  assert.ok(JSON.stringify(snapshot(kept)).length < 2 * limit);
});

test("a view without a limit keeps everything", () => {
  const whole = view(many(1_000, call), undefined);
  assert.deepEqual([whole.dropped, whole.timeline.length], [0, 1_000]);
});

test("what is open is kept, in its place before what came later", () => {
  const asked: EntryBody = {
    kind: "ask",
    askId: "a",
    permission: { title: "May I?", options: [{ optionId: "o", name: "Yes", kind: "allow_once" }] },
  };
  const bodies: EntryBody[] = [
    ...many(20, call).map((update): EntryBody => ({ kind: "update", update })),
    { kind: "update", update: call(1_000, { status: "in_progress" }) },
    asked,
    ...many(500, (at) => call(at + 20)).map((update): EntryBody => ({ kind: "update", update })),
  ];
  const kept = viewFrom(entriesOf(bodies), { timelineBytes: limit });
  assert.deepEqual(
    kept.timeline.slice(0, 2).map(({ key }) => key),
    ["tool_call:c1000", "ask:a"],
  );
  assert.ok(kept.pendingAsks.has("a") && kept.dropped > 400);
});

test("a message without end keeps its last text, and says how much it dropped", () => {
  const sent = many(2_000, (at) => chunk(`${at} ${kilobyte}\n`));
  const kept = view(sent, limit);
  const [item] = kept.timeline;
  assert.ok(item?.kind === "agent_message" && kept.timeline.length === 1);
  assert.ok(item.dropped > 1_000_000, String(item.dropped));
  assert.ok(item.text.length < 600_000, String(item.text.length));
  assert.ok(item.text.endsWith(`1999 ${kilobyte}\n`));
  assert.ok(item.dropped + item.text.length > sent.length * kilobyte.length);
  // a block begins with a line
  for (const block of item.content) assert.ok(block.type === "text" && /^(?:\d+ |$)/.test(block.text));
});

test("content that is replaced again and again does not push out what came before", () => {
  const replaced = () => call(1, { content: [{ type: "content", content: text(kilobyte) }] });
  const kept = view([chunk("first"), ...many(500, replaced)], limit);
  assert.equal(kept.dropped, 0);
});

test("the output of a terminal goes with the call that has shown it", () => {
  const shows = (at: number): SessionUpdate[] => [
    {
      sessionUpdate: "terminal_update",
      terminalId: `t${at}`,
      output: { data: Buffer.from(kilobyte).toString("base64") },
      exitStatus: { exitCode: 0 },
    },
    call(at, { rawOutput: undefined, content: [{ type: "terminal", terminalId: `t${at}` }] }),
  ];
  const kept = view(
    many(500, call).flatMap((_, at) => shows(at)),
    limit,
  );
  assert.ok(kept.dropped > 300);
  assert.deepEqual(
    [...kept.terminals.keys()],
    [...kept.toolCalls.keys()].map((id) => id.replace("c", "t")),
  );
});
