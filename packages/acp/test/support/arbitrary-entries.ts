// Generates entries of every kind for property tests, with few ids, so that they collide.

import fc from "fast-check";
import type { Entry, EntryBody } from "../../src/model/entry.ts";
import { entriesOf, text } from "./sample-entries.ts";

const id = fc.constantFrom("1", "2", "__proto__", "constructor", "");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const words = fc.constantFrom("a", "zwölf ", "🦆", "");
const meta = fc.dictionary(fc.constantFrom("a", "b", "__proto__"), maybe(fc.nat(2)), {
  noNullPrototype: true,
});
const block = fc.oneof(
  words.map(text),
  words.map((value) => ({ ...text(value), annotations: { priority: 1 } })),
  fc.constant({ type: "image", data: "AA==", mimeType: "image/png" }),
  fc.constant({ type: "_vendor", anything: [1] }),
);
const base64 = fc.constantFrom("YQ==", "", "8J+mhg==", "8J8=", "poY=", "not base64!");
const status = fc.constantFrom(
  "pending",
  "in_progress",
  "paused",
  "completed",
  "failed",
  "cancelled",
  "_odd",
);
const path = fc.constantFrom("/a", "/b", "__proto__");
const toolContent = fc.oneof(
  block.map((content) => ({ type: "content", content })),
  id.map((terminalId) => ({ type: "terminal", terminalId })),
  path.map((value) => ({ type: "diff", changes: [{ operation: "modify", path: value }] })),
  path.map((value) => ({ type: "diff", changes: [], path: value, oldText: null, newText: "x" })),
  fc.constant({ type: "diff", changes: [{ operation: "_odd", path: 7 }] }),
  fc.constant({ type: "_vendor" }),
);
const terminalMeta = fc.record(
  {
    terminal_info: fc.record({ terminal_id: id, cwd: path }, { requiredKeys: [] }),
    terminal_output: fc.record({ terminal_id: id, data: words }, { requiredKeys: [] }),
    terminal_output_delta: fc.oneof(fc.record({ data: words }), fc.constant(null)),
    terminal_exit: fc.record({ exit_code: maybe(fc.nat(2)) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
export const anyToolCall = fc.record(
  {
    toolCallId: id,
    title: maybe(words),
    kind: maybe(fc.constantFrom("read", "edit", "_odd")),
    status: maybe(status),
    content: maybe(fc.array(toolContent, { maxLength: 3 })),
    locations: maybe(fc.array(fc.record({ path }), { maxLength: 2 })),
    rawInput: fc.jsonValue({ maxDepth: 1 }),
    _meta: maybe(fc.oneof(meta, terminalMeta)),
  },
  { requiredKeys: ["toolCallId"] },
);
const background = fc.array(
  fc.oneof(
    id.map((toolCallId) => ({ type: "tool_call", toolCallId })),
    id.map((terminalId) => ({ type: "terminal", terminalId })),
  ),
  { maxLength: 2 },
);
const stopReason = fc.constantFrom("end_turn", "cancelled", "error", "_odd");
/** Ids and what makes an update of its kind are always there, the rest now and then. */
function tagged(sessionUpdate: fc.Arbitrary<string>, fields: Record<string, fc.Arbitrary<unknown>>) {
  const given: Record<string, fc.Arbitrary<unknown>> = { sessionUpdate, ...fields };
  const required = ["sessionUpdate", "messageId", "terminalId", "planId", "state", "data"];
  return fc.record(given, { requiredKeys: required.filter((key) => key in given) });
}
export const anyUpdate = fc.oneof(
  fc.record({
    sessionUpdate: fc.constantFrom("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"),
    messageId: id,
    content: block,
  }),
  tagged(fc.constantFrom("user_message", "agent_message", "agent_thought", "session_message"), {
    messageId: id,
    content: maybe(fc.array(block, { maxLength: 3 })),
    _meta: maybe(meta),
  }),
  anyToolCall.map((fields) => ({ sessionUpdate: "tool_call_update", ...fields })),
  fc.record({ sessionUpdate: fc.constant("tool_call_content_chunk"), toolCallId: id, content: toolContent }),
  tagged(fc.constant("terminal_update"), {
    terminalId: id,
    output: maybe(fc.record({ data: base64 })),
    exitStatus: maybe(fc.record({ exitCode: fc.nat(2) })),
    _meta: maybe(meta),
  }),
  tagged(fc.constant("terminal_output_chunk"), { terminalId: id, data: base64 }),
  tagged(fc.constant("state_update"), {
    state: fc.constantFrom("running", "idle", "requires_action", "_odd"),
    stopReason,
    background,
  }),
  fc.record({
    sessionUpdate: fc.constant("plan_update"),
    plan: fc.record({ type: fc.constant("items"), planId: id, entries: fc.constant([]) }),
  }),
  tagged(fc.constant("plan_removed"), { planId: id }),
  fc.record({ sessionUpdate: fc.constant("compaction_summary_chunk"), compactionId: id, content: block }),
  fc.record({ sessionUpdate: fc.constant("compaction_update"), compactionId: id, status }),
  fc.record({ sessionUpdate: fc.constant("notice"), severity: fc.constant("info"), title: words }),
  fc.record({ sessionUpdate: fc.constantFrom("_odd", "__proto__"), unknown: fc.constant(true), raw: meta }),
);
const ask = fc.oneof(
  fc.record({
    permission: fc.record({
      title: words,
      options: fc.constant([{ optionId: "no", name: "No", kind: "reject_once" }]),
      subject: maybe(anyToolCall.map((fields) => ({ type: "tool_call", toolCall: fields }))),
    }),
  }),
  fc.constant({ elicitation: { mode: "url", message: "m", elicitationId: "e", url: "https://example.com" } }),
);
const answer = fc.oneof(
  fc.constantFrom(
    { permission: { outcome: "cancelled" } },
    { permission: { outcome: "selected", optionId: "no" } },
  ),
  fc.constant({ elicitation: { action: "decline" } }),
);
const body = fc.oneof(
  { weight: 8, arbitrary: anyUpdate.map((value) => ({ kind: "update", update: value })) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("prompt"), messageId: id, prompt: fc.array(block) }),
  },
  { weight: 1, arbitrary: fc.tuple(id, ask).map(([askId, what]) => ({ kind: "ask", askId, ...what })) },
  { weight: 1, arbitrary: fc.tuple(id, answer).map(([askId, what]) => ({ kind: "answer", askId, ...what })) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("result"), messageId: id, result: fc.record({ stopReason }) }),
  },
);
export const anyEntries: fc.Arbitrary<Entry[]> = fc
  .array(body, { maxLength: 40 })
  // The arbitraries are written in the words of the wire; their types are wider than the model's.
  .map((bodies) => entriesOf(structuredClone(bodies) as unknown as EntryBody[]));
