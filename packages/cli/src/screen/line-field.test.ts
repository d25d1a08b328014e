import assert from "node:assert/strict";
import { test } from "node:test";
import { keyPress } from "./key-press.ts";
import { LineField } from "./line-field.ts";

const type = (field: LineField, ...keys: readonly string[]) => {
  for (const key of keys) field.handle(keyPress(key) ?? assert.fail(JSON.stringify(key)));
};

test("a field shows the part around the cursor", () => {
  const field = new LineField("0123456789");
  assert.deepEqual(field.draw(20), { line: "0123456789", column: 10 });
  assert.deepEqual(field.draw(5), { line: "6789", column: 4 });
  type(field, "\u0001", "x");
  assert.deepEqual(field.draw(5), { line: "x0123", column: 1 });
});

test("hidden text is shown as dots, and nothing of it is drawn", () => {
  const field = new LineField();
  type(field, "s", "3", "c");
  assert.deepEqual(field.draw(20, true), { line: "•••", column: 3 });
});

test("N198-N205 a paste is one line without sequences, and its line end is not part of it", () => {
  const field = new LineField();
  type(field, "\u001b[200~a\u001b[2Jb\nc\u001b]0;t\u0007\n\u001b[201~");
  assert.equal(field.text, "ab c");
});

test("the wheel of the mouse is a key", () => {
  assert.equal(keyPress("\u001b[<64;10;5M")?.id, "wheelUp");
  assert.equal(keyPress("\u001b[<65;10;5M")?.id, "wheelDown");
  assert.equal(keyPress("\u001b[<0;10;5M"), undefined);
});
