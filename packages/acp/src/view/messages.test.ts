import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, text, updates } from "../../test/support/sample-entries.ts";
import type { Entry } from "../model/entry.ts";
import { applyEntry, createView, type MessageItem, type SessionView, snapshot, viewFrom } from "../view.ts";

function messages(view: SessionView): MessageItem[] {
  return view.timeline.filter(
    (item): item is MessageItem =>
      item.kind === "user_message" || item.kind === "agent_message" || item.kind === "agent_thought",
  );
}

function shown(entries: readonly Entry[]): unknown[] {
  return messages(viewFrom(entries)).map(({ key, content }) => [key, content]);
}

test("consecutive text chunks of a message are one block", () => {
  const entries = updates(
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: text("Hel") },
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: text("lo") },
  );
  assert.deepEqual(shown(entries), [["agent_message:m", [text("Hello")]]]);
});

test("the text of a message is that of its content at the moment; a snapshot has the content alone", () => {
  const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
  const view = createView();
  const entries = updates(
    { sessionUpdate: "agent_message", messageId: "m" },
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: text("Hel") },
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: image },
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: text("lo") },
    { sessionUpdate: "agent_message", messageId: "m", content: null },
  );
  const seen = entries.map((entry) => {
    applyEntry(view, entry);
    return messages(view)[0]?.text;
  });
  assert.deepEqual(seen, ["", "Hel", "Hel", "Hello", ""]);
  const [item] = snapshot(view).timeline ?? [];
  assert.ok(item?.kind === "agent_message");
  assert.deepEqual([item.content, "text" in item], [[], false]);
});

test("an image or annotated text between chunks keeps its place and its neighbours apart", () => {
  const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
  const aside = { ...text("aside"), annotations: { audience: ["user"] } };
  const entries = updates(
    ...[text("a"), image, text("b"), text("c"), aside, text("d")].map((content) => ({
      sessionUpdate: "agent_message_chunk" as const,
      messageId: "m",
      content,
    })),
  );
  assert.deepEqual(shown(entries), [["agent_message:m", [text("a"), image, text("bc"), aside, text("d")]]]);
});

test("chunks of messages that interleave go to their own message, in order of first sight (C49)", () => {
  const entries = updates(
    { sessionUpdate: "agent_message_chunk", messageId: "2", content: text("x") },
    { sessionUpdate: "agent_message_chunk", messageId: "1", content: text("a") },
    { sessionUpdate: "agent_message_chunk", messageId: "2", content: text("y") },
    { sessionUpdate: "agent_message_chunk", messageId: "1", content: text("b") },
  );
  assert.deepEqual(shown(entries), [
    ["agent_message:2", [text("xy")]],
    ["agent_message:1", [text("ab")]],
  ]);
});

test("user, agent and thought have ids of their own, compared as plain strings (C63)", () => {
  const entries = updates(
    { sessionUpdate: "user_message_chunk", messageId: "1", content: text("question") },
    { sessionUpdate: "agent_thought_chunk", messageId: "1", content: text("hm") },
    { sessionUpdate: "agent_message_chunk", messageId: "1", content: text("answer") },
    { sessionUpdate: "agent_message_chunk", messageId: "01", content: text("other") },
  );
  assert.deepEqual(shown(entries), [
    ["user_message:1", [text("question")]],
    ["agent_thought:1", [text("hm")]],
    ["agent_message:1", [text("answer")]],
    ["agent_message:01", [text("other")]],
  ]);
});

test("a message with content replaces what chunks brought, and later chunks append (C49)", () => {
  const entries = updates(
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: text("draft") },
    { sessionUpdate: "agent_message", messageId: "m", content: [text("one"), text("two")] },
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: text("!") },
  );
  assert.deepEqual(shown(entries), [["agent_message:m", [text("one"), text("two!")]]]);
});

for (const [name, content] of [
  ["an empty list", []],
  ["null", null],
] as const) {
  test(`${name} clears a message (C49)`, () => {
    const entries = updates(
      { sessionUpdate: "agent_thought_chunk", messageId: "m", content: text("secret") },
      { sessionUpdate: "agent_thought", messageId: "m", content: content && [...content] },
      { sessionUpdate: "agent_thought_chunk", messageId: "m", content: text("public") },
    );
    assert.deepEqual(shown(entries), [["agent_thought:m", [text("public")]]]);
  });
}

test("a message without content keeps what it has; a new one starts empty (C49)", () => {
  const entries = updates(
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: text("kept") },
    { sessionUpdate: "agent_message", messageId: "m" },
    { sessionUpdate: "agent_message", messageId: "new" },
  );
  assert.deepEqual(shown(entries), [
    ["agent_message:m", [text("kept")]],
    ["agent_message:new", []],
  ]);
});

test("metadata is patched by top-level key: null removes a key, null as a whole removes all (E11)", () => {
  const steps = updates(
    { sessionUpdate: "agent_message", messageId: "m", _meta: { a: { x: 1 }, b: 2 } },
    { sessionUpdate: "agent_message", messageId: "m", _meta: { a: { y: 1 }, b: null, c: 3 } },
    { sessionUpdate: "agent_message", messageId: "m" },
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: text("x"), _meta: { chunk: true } },
    { sessionUpdate: "agent_message", messageId: "m", _meta: null },
  );
  const seen = steps.map((_, index) => ({ ...messages(viewFrom(steps.slice(0, index + 1)))[0]?._meta }));
  const patched = { a: { y: 1 }, c: 3 };
  assert.deepEqual(seen, [{ a: { x: 1 }, b: 2 }, patched, patched, patched, {}]);
});

const prompt = { kind: "prompt", messageId: "u", prompt: [text("hello")] } as const;
const echoes = {
  "as one message": [{ sessionUpdate: "user_message", messageId: "u", content: [text("hello")] }],
  "in chunks": [
    { sessionUpdate: "user_message_chunk", messageId: "u", content: text("hel") },
    { sessionUpdate: "user_message_chunk", messageId: "u", content: text("lo") },
  ],
  "without its content": [{ sessionUpdate: "user_message", messageId: "u" }],
} as const;
for (const [how, echo] of Object.entries(echoes)) {
  const repeated = echo.map((update) => ({ kind: "update" as const, update: structuredClone(update) }));
  test(`a prompt that the agent repeats ${how} is shown once, whichever comes first`, () => {
    for (const bodies of [
      [prompt, ...repeated],
      [...repeated, prompt],
    ]) {
      // The clone of a constant is writable, which its type does not know.
      const entries = entriesOf(bodies as Parameters<typeof entriesOf>[0]);
      assert.deepEqual(shown(entries), [["user_message:u", [text("hello")]]]);
    }
  });
}

test("the result of a prompt stands with the prompt", () => {
  const result = { stopReason: "refusal" } as const;
  const view = viewFrom(entriesOf([prompt, { kind: "result", messageId: "u", result }]));
  assert.deepEqual(messages(view)[0]?.result, result);
  assert.deepEqual(view.lastResult, result);
});

test("messages between sessions are upserts and chunks too", () => {
  const view = viewFrom(
    updates(
      { sessionUpdate: "session_message_chunk", messageId: "m", content: text("do ") },
      { sessionUpdate: "session_message", messageId: "m", senderSessionId: "parent" },
      { sessionUpdate: "session_message_chunk", messageId: "m", content: text("it") },
      {
        sessionUpdate: "session_message",
        messageId: "m",
        senderSessionId: null,
        recipientSessionId: "child",
      },
    ),
  );
  const [item] = view.timeline;
  assert.ok(item?.kind === "session_message");
  assert.deepEqual(
    [item.content, item.senderSessionId, item.recipientSessionId],
    [[text("do it")], undefined, "child"],
  );
});

test("a compaction keeps its place, and its summary grows by chunks and is replaced whole", () => {
  const view = viewFrom(
    updates(
      { sessionUpdate: "compaction_summary_chunk", compactionId: "c", content: text("so ") },
      { sessionUpdate: "agent_message_chunk", messageId: "m", content: text("x") },
      { sessionUpdate: "compaction_summary_chunk", compactionId: "c", content: text("far") },
    ),
  );
  const [item] = view.timeline;
  assert.ok(item?.kind === "compaction");
  assert.deepEqual([item.status, item.summary], ["in_progress", [text("so far")]]);
  const [end] = entriesOf(
    [
      {
        kind: "update",
        update: {
          sessionUpdate: "compaction_update",
          compactionId: "c",
          status: "failed",
          summary: [],
          error: "e",
        },
      },
    ],
    4,
  );
  applyEntry(view, end!);
  assert.deepEqual([item.status, item.summary, item.error], ["failed", [], "e"]);
});
