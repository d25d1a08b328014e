// The updates of an agent of the document: what they mean in version 1, and that they come out again as they were.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { DialectDriver, only } from "../../test/support/dialect-driver.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import type { SessionNotification } from "../wire/scoped/types.gen.ts";
import { scopedMachines as scoped } from "./machines.ts";
import { isEndOfMessage } from "./update-decoder.ts";

const details = "_parley.dev/details";

/** In version 1, as our client gets it. */
function decoded(type: string, data: object, more: object = {}): Record<string, unknown> {
  const driver = new DialectDriver(scoped, "client", methods, { unstable: true });
  const params = { sessionId: "s", type, data, ...more };
  const { update } = only(driver.receive({ method: "session/update", params }).toUs).params as {
    update: object;
  };
  return update as Record<string, unknown>;
}

/** Through both machines: from an agent of the dialect to a client of it. */
function roundTrip(params: object): unknown {
  const back = new DialectDriver(scoped, "client", methods, { unstable: true });
  const front = new DialectDriver(scoped, "agent", methods, { unstable: true });
  const { toUs } = back.receive({ method: "session/update", params });
  return only(front.send(only(toUs)).toPeer).params;
}

test("message chunks: index and final tell messages apart, visible is kept (8.3)", () => {
  const driver = new DialectDriver(scoped, "client", methods, { unstable: true });
  const piece = (type: string, data: object): Record<string, unknown> => {
    const params = { sessionId: "s", type, data };
    const { update } = only(driver.receive({ method: "session/update", params }).toUs).params as {
      update: object;
    };
    return update as Record<string, unknown>;
  };
  const a = piece("agent_message_chunk", { content: "a", index: 0 });
  const b = piece("agent_message_chunk", { content: "b", index: 1, final: true });
  const c = piece("agent_message_chunk", { content: "c", index: 0 });
  assert.equal(a["messageId"], b["messageId"]);
  assert.notEqual(b["messageId"], c["messageId"]);
  assert.deepEqual(a["content"], { type: "text", text: "a" });
  assert.deepEqual(b["_meta"], { [details]: { index: 1, final: true } });
  assert.equal(piece("agent_message_chunk", { content: "plain" })["messageId"], undefined);
  const thought = piece("thought_message_chunk", { content: "hm", visible: false });
  assert.equal(thought["sessionUpdate"], "agent_thought_chunk");
  assert.deepEqual(thought["_meta"], { [details]: { visible: false } });
});

test("tool calls: title, kind, input, columns and the richer statuses (8.3)", () => {
  const call = decoded(
    "tool_call",
    {
      id: "tc",
      tool: "fs/write_text_file",
      input: { path: "/w/a.ts" },
      status: "awaiting_permission",
      requiresPermission: true,
      location: { path: "/w/a.ts", line: 42, column: 5, endLine: 55, endColumn: 2 },
    },
    { timestamp: "2026-02-04T10:30:00Z" },
  );
  assert.deepEqual(call, {
    sessionUpdate: "tool_call",
    toolCallId: "tc",
    title: "fs/write_text_file /w/a.ts",
    name: "fs/write_text_file",
    kind: "edit",
    status: "pending",
    rawInput: { path: "/w/a.ts" },
    locations: [
      { path: "/w/a.ts", line: 42, _meta: { [details]: { column: 5, endLine: 55, endColumn: 2 } } },
    ],
    _meta: {
      [details]: {
        timestamp: "2026-02-04T10:30:00Z",
        status: "awaiting_permission",
        requiresPermission: true,
      },
    },
  });
  const kinds = {
    "fs/read_text_file": "read",
    "terminal/create": "execute",
    search: "search",
    mine: "other",
  };
  for (const [tool, kind] of Object.entries(kinds))
    assert.equal(decoded("tool_call", { id: "1", tool })["kind"], kind);
  for (const status of ["denied", "cancelled"]) {
    const update = decoded("tool_call_update", { id: "tc", status, duration: 45 });
    assert.equal(update["status"], "failed");
    assert.deepEqual(update["_meta"], { [details]: { status, duration: 45 } });
  }
  const failed = decoded("tool_call_update", { id: "tc", status: "failed", error: "no" });
  assert.deepEqual((failed["content"] as { content: object }[])[0]?.content, { type: "text", text: "no" });
});

test("a diff becomes the texts around its changes; one that cannot be read becomes text (8.3)", () => {
  const hunk = { oldStart: 10, oldLines: 5, newStart: 10, newLines: 8 };
  const content = "@@ -10,5 +10,8 @@\n function auth() {\n-  callback(result);\n+  return result;\n }";
  const output = { type: "diff", path: "/w/a.ts", hunks: [{ ...hunk, content }] };
  const [diff] = decoded("tool_call_update", { id: "t", output })["content"] as Record<string, unknown>[];
  assert.equal(diff?.["oldText"], "function auth() {\n  callback(result);\n}\n");
  assert.equal(diff?.["newText"], "function auth() {\n  return result;\n}\n");
  const unreadable = { ...output, hunks: [{ ...hunk, content: "..." }] };
  const [text] = decoded("tool_call_update", { id: "t", output: unreadable })["content"] as {
    type: string;
  }[];
  assert.equal(text?.type, "content");
  const added = { oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, content: "@@ -0,0 +1,1 @@\n+x" };
  const fresh = decoded("tool_call_update", { id: "t", output: { ...output, hunks: [added] } });
  const [file] = fresh["content"] as Record<string, unknown>[];
  assert.deepEqual([file?.["oldText"], file?.["newText"]], [undefined, "x\n"]);
});

test("the output of a terminal that our client does not have is text", () => {
  const output = {
    type: "terminal",
    terminalId: "x",
    command: "npm test",
    exitCode: 0,
    stdout: "ok",
    stderr: "",
  };
  const [item] = decoded("tool_call_update", { id: "t", output })["content"] as { content: object }[];
  assert.deepEqual(item?.content, { type: "text", text: "$ npm test\nok" });
});

test("plans, commands, modes and options in version 1 (8.3)", () => {
  const steps = [
    { id: "step_1", description: "Read", status: "completed" },
    { id: "step_2", description: "Write", status: "skipped" },
  ];
  assert.deepEqual(decoded("plan", { planId: "p", steps }), {
    sessionUpdate: "plan",
    entries: [
      { content: "Read", priority: "medium", status: "completed", _meta: { [details]: { id: "step_1" } } },
      {
        content: "Write",
        priority: "medium",
        status: "completed",
        _meta: { [details]: { id: "step_2", status: "skipped" } },
      },
    ],
    _meta: { [details]: { planId: "p" } },
  });
  const mode = { previousMode: "default", currentMode: "plan", reason: "asked" };
  assert.deepEqual(decoded("current_mode_update", mode), {
    sessionUpdate: "current_mode_update",
    currentModeId: "architect",
    _meta: { [details]: { mode: "plan", previousMode: "default", reason: "asked" } },
  });
  const option = { key: "autoApprove", previousValue: false, currentValue: true, source: "user" };
  assert.deepEqual(decoded("config_option_update", option), {
    sessionUpdate: "config_option_update",
    configOptions: [{ id: "autoApprove", name: "autoApprove", type: "boolean", currentValue: true }],
    _meta: { [details]: { key: "autoApprove", previousValue: false, source: "user" } },
  });
});

// arbitrary updates of the document

const text = fc.string({ maxLength: 12 });
const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const meta = fc.option(fc.dictionary(fc.constantFrom("a", "vendor/x"), fc.jsonValue(), { minKeys: 1 }), {
  nil: undefined,
});
const json = fc.jsonValue().filter((value) => value !== null);
const mode = fc.constantFrom("default", "plan", "ask", "architect", "code", "own");
const status = fc.constantFrom(
  "pending",
  "awaiting_permission",
  "in_progress",
  "completed",
  "failed",
  "denied",
  "cancelled",
);
const count = fc.nat({ max: 1000 });
const record = <Fields extends object>(fields: { [name in keyof Fields]: fc.Arbitrary<Fields[name]> }) =>
  fc.record({ ...fields, _meta: meta });
const location = record({
  path: fc.constantFrom("/w/a", "/b"),
  line: some(fc.integer({ min: 1, max: 99 })),
  column: some(count),
  endLine: some(count),
  endColumn: some(count),
});
const hunk = record({
  oldStart: count,
  oldLines: count,
  newStart: count,
  newLines: count,
  content: fc.oneof(text, fc.constant("@@ -1,1 +1,1 @@\n-a\n+b")),
});
const output = fc.oneof(
  record({ type: fc.constant("text"), text }),
  record({ type: fc.constant("diff"), path: fc.constant("/w/a"), hunks: fc.array(hunk, { maxLength: 3 }) }),
  record({
    type: fc.constant("terminal"),
    terminalId: text,
    command: some(text),
    exitCode: some(fc.integer({ min: -1, max: 255 })),
    stdout: some(text),
    stderr: some(text),
  }),
);
const chunk = record({
  content: text,
  index: some(count),
  final: some(fc.boolean()),
  visible: some(fc.boolean()),
});

const kinds: { [type: string]: fc.Arbitrary<object> } = {
  agent_message_chunk: chunk,
  user_message_chunk: chunk,
  thought_message_chunk: chunk,
  plan: record({
    planId: some(text),
    steps: fc.array(
      record({
        id: some(text),
        description: text,
        status: some(fc.constantFrom("pending", "completed", "failed")),
      }),
    ),
  }),
  tool_call: record({
    id: text,
    tool: text,
    input: some(json),
    status: some(status),
    requiresPermission: some(fc.boolean()),
    location: some(location),
  }),
  tool_call_update: record({
    id: text,
    status: some(status),
    output: some(output),
    error: some(text),
    duration: some(fc.nat()),
    location: some(location),
  }),
  available_commands: record({ commands: fc.array(record({ name: text, description: text })) }),
  current_mode_update: record({ previousMode: some(mode), currentMode: mode, reason: some(text) }),
  config_option_update: record({
    key: text,
    previousValue: some(json),
    currentValue: fc.jsonValue(),
    source: some(text),
  }),
};

/** As it comes off the wire. */
const clean = (value: object): object => JSON.parse(JSON.stringify(value));

for (const [type, data] of Object.entries(kinds)) {
  test(`every ${type} comes out of both machines as it went in, and is valid between them`, () => {
    const params = fc.record({
      sessionId: text,
      type: fc.constant(type),
      data,
      timestamp: some(fc.constant("2026-02-04T10:30:00Z")),
      _meta: meta,
    });
    fc.assert(
      fc.property(params.map(clean), (given) => {
        // the end of a message, and nothing else, is not told to our side: it is said anew where the message goes on
        fc.pre(!isEndOfMessage(given as SessionNotification));
        assert.deepEqual(roundTrip(given), given);
      }),
      { numRuns: 200 },
    );
  });
}
