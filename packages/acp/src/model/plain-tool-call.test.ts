import assert from "node:assert/strict";
import { test } from "node:test";
import { plainToolCallIn } from "./plain-tool-call.ts";

const call = { sessionUpdate: "tool_call_update", toolCallId: "t1" };
const block = (text: string) => ({ type: "content", content: { type: "text", text } });

test("a tool call with plain fields need not be parsed", () => {
  const found = (fields: object) => {
    const { hasTitle, hasContent, hasEnded, toolCallId } =
      plainToolCallIn(JSON.stringify({ ...call, ...fields })) ?? {};
    return [toolCallId, hasTitle, hasContent, hasEnded];
  };
  assert.deepEqual(found({}), ["t1", false, false, false]);
  assert.deepEqual(found({ title: 'say "x"\n', kind: "read", name: "read", status: "pending" }), [
    "t1",
    true,
    false,
    false,
  ]);
  assert.deepEqual(found({ content: [], rawOutput: { code: -1.5, ok: true }, status: "completed" }), [
    "t1",
    false,
    true,
    true,
  ]);
  const locations = [{ path: "/a", line: 2 }, { path: "/b" }];
  assert.deepEqual(found({ locations, content: [block("a"), block("\\")], status: "failed" }), [
    "t1",
    false,
    true,
    true,
  ]);
  // what looks like another field inside a text
  assert.deepEqual(found({ rawOutput: ',"title":"x","status":"failed","content":[' }), [
    "t1",
    false,
    false,
    false,
  ]);
});

test("a tool call with anything else has to be parsed", () => {
  for (const fields of [
    { title: null },
    { kind: "_own" },
    { status: "cancelled" },
    { capabilities: { cancel: {} } },
    { _meta: {} },
    { unknown: "x" },
    { content: [{ type: "terminal", terminalId: "x" }] },
    { content: [{ ...block("x"), _meta: {} }] },
    { rawInput: { status: "completed" } },
    { rawInput: { title: "x" } },
    { rawInput: { content: "x" } },
    { rawInput: { a: { b: 1 } } },
    { rawInput: [1] },
    { toolCallId: 'a"b' },
    { title: "x".repeat(300_000) },
  ])
    assert.equal(plainToolCallIn(JSON.stringify({ ...call, ...fields })), undefined, JSON.stringify(fields));
  const { toolCallId, ...rest } = call;
  assert.equal(plainToolCallIn(JSON.stringify({ toolCallId, ...rest })), undefined);
});

test("what is not JSON is left to JSON.parse, which refuses it", () => {
  const json = JSON.stringify({ ...call, title: "|", rawInput: { limit: 1 } });
  assert.ok(plainToolCallIn(json));
  for (const inside of ["\\q", "\\", "\\u12g4", '"', "\n", "\t"])
    assert.equal(plainToolCallIn(json.replace("|", () => inside)), undefined, JSON.stringify(inside));
  for (const wrong of [
    `${json}}`,
    json.slice(0, -1),
    `${json},`,
    json.replace("1}", "01}"),
    json.replace("1}", "1.}"),
  ])
    assert.equal(plainToolCallIn(wrong), undefined, wrong);
});
