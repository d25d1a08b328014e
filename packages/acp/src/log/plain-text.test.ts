import assert from "node:assert/strict";
import { test } from "node:test";
import {
  endOfPlainText,
  isPlainText,
  messageIdIn,
  type PlainText,
  plainTextHead,
  plainTextIn,
  wholeTextHead,
} from "./plain-text.ts";

const chunk = (text: string, messageId = "m1"): PlainText => ({
  sessionUpdate: "agent_message_chunk",
  messageId,
  content: { type: "text", text },
});

test("the text of a chunk is found in its JSON as JSON.parse finds it, or left to JSON.parse", () => {
  const texts = [
    "",
    "Hello",
    "a\nb",
    'say "x"',
    "back\\slash",
    "\\",
    '\\"',
    '"}}',
    '"}}"}}',
    "äöü 🙂",
    "\u2028\u0001",
    "{}",
  ];
  let found = 0;
  for (const text of texts) {
    for (const id of ["m1", "", 'a"b', "a\\b", 'x","content":{"type":"text","text":"y']) {
      for (const sessionUpdate of ["agent_message_chunk", "agent_thought_chunk"] as const) {
        const json = JSON.stringify({ ...chunk(text, id), sessionUpdate });
        const place = plainTextIn(json);
        if (place === undefined) continue;
        found++;
        assert.equal(place.tag, sessionUpdate);
        assert.equal(JSON.parse(json.slice(place.start, 1 - endOfPlainText.length)), text);
        assert.equal(messageIdIn(json, place), id);
        const whole = `${wholeTextHead(json, place)}${json.slice(place.start, -1)}]}`;
        const content = [{ type: "text", text }];
        const tag = sessionUpdate.replace("_chunk", "");
        assert.deepEqual(JSON.parse(whole), { sessionUpdate: tag, messageId: id, content });
      }
    }
  }
  // of all texts, for the two ids that need no escapes
  assert.equal(found, texts.length * 2 * 2);
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
    assert.equal(plainTextIn(JSON.stringify(other)), undefined, JSON.stringify(other));
  for (const text of ["", "{}", `${JSON.stringify(chunk("x"))}}`, JSON.stringify(chunk("x")).slice(0, -1)])
    assert.equal(plainTextIn(text), undefined, text);
});

test("what JSON does not allow in a string is left to JSON.parse, which refuses it", () => {
  const [head, end] = JSON.stringify(chunk("|")).split("|");
  for (const inside of ["\\q", "\\", "\\u12g4", "\\u12", 'a"b', '\\\\"'])
    assert.equal(plainTextIn(`${head}${inside}${end}`), undefined, inside);
});

test("the head of a chunk and its text are its JSON", () => {
  const plain = chunk("x");
  assert.ok(isPlainText(plain));
  assert.equal(`${plainTextHead(plain)}"x"}}`, JSON.stringify(plain));
});
