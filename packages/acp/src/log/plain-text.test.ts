import assert from "node:assert/strict";
import { test } from "node:test";
import { isPlainText, type PlainText, plainTextFrom, plainTextHead } from "./plain-text.ts";

const chunk = (text: string, messageId = "m1"): PlainText => ({
  sessionUpdate: "agent_message_chunk",
  messageId,
  content: { type: "text", text },
});

test("a chunk is read as JSON.parse reads it, or left to JSON.parse", () => {
  const texts = ["", "Hello", "a\nb", 'say "x"', "back\\slash", '"}}', '"}}"}}', "äöü 🙂", "\u2028", "{}"];
  for (const text of texts) {
    for (const id of ["m1", "", 'a"b', "a\\b", 'x","content":{"type":"text","text":"y']) {
      for (const sessionUpdate of ["agent_message_chunk", "agent_thought_chunk"] as const) {
        const json = JSON.stringify({ ...chunk(text, id), sessionUpdate });
        const read = plainTextFrom(json);
        if (read !== undefined) assert.deepEqual(read, JSON.parse(json));
      }
    }
  }
  assert.deepEqual(plainTextFrom(JSON.stringify(chunk("Hello"))), chunk("Hello"));
});

test("what is not exactly such a chunk is left to JSON.parse", () => {
  const { content, ...rest } = chunk("x");
  for (const other of [
    { ...chunk("x"), sessionUpdate: "user_message_chunk" },
    { ...chunk("x"), _meta: { a: 1 } },
    { ...rest, content: { ...content, annotations: { priority: 1 } } },
    { ...rest, messageId: null, content },
    { ...rest, content: { type: "text", text: 5 } },
    { content, ...rest },
  ])
    assert.equal(plainTextFrom(JSON.stringify(other)), undefined, JSON.stringify(other));
  for (const text of ["", "{}", `${JSON.stringify(chunk("x"))}}`, JSON.stringify(chunk("x")).slice(0, -1)])
    assert.equal(plainTextFrom(text), undefined, text);
});

test("the head of a chunk and its text are its JSON", () => {
  const plain = chunk("x");
  assert.ok(isPlainText(plain));
  assert.equal(`${plainTextHead(plain)}"x"}}`, JSON.stringify(plain));
});
