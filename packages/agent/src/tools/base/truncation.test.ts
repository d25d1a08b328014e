import assert from "node:assert/strict";
import { test } from "node:test";
import { headOf, limitedContent, maxBytes, shortLine, tailOf } from "./truncation.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join("");

test("a short text is kept whole, and a final line end adds no line", () => {
  assert.deepEqual(headOf("a\nb\n"), { text: "a\nb", from: 1, to: 2, lines: 2, isCut: false });
  assert.deepEqual(tailOf("a\nb"), { text: "a\nb", from: 1, to: 2, lines: 2, isCut: false });
  assert.deepEqual(headOf(""), { text: "", from: 1, to: 0, lines: 0, isCut: false });
});

test("2,000 lines of a long text are kept: the first of what is read, the last of what is printed", () => {
  const text = numbered(2_500);
  const head = headOf(text, 401);
  assert.deepEqual([head.from, head.to, head.lines, head.isCut], [401, 2_400, 2_500, true]);
  assert.ok(head.text.startsWith("line 401\n") && head.text.endsWith("line 2400"));
  const tail = tailOf(text);
  assert.deepEqual([tail.from, tail.to, tail.lines, tail.isCut], [501, 2_500, 2_500, true]);
});

test("50 KB are kept, never half a line", () => {
  const text = `${"x".repeat(999)}\n`.repeat(100);
  for (const { text: kept } of [headOf(text), tailOf(text)]) {
    assert.ok(kept.length <= maxBytes);
    assert.ok(kept.split("\n").every((line) => line.length === 999));
    assert.equal(kept.split("\n").length, 51);
  }
  assert.equal(headOf("é".repeat(maxBytes)).to, 0);
});

test("the end of a last line that is too long is kept, at a character boundary", () => {
  const tail = tailOf(`é${"ü".repeat(maxBytes)}`);
  assert.equal(tail.text, "ü".repeat(maxBytes / 2));
  assert.ok(tail.isCut);
});

test("a long line of a list says how much is missing", () => {
  assert.equal(shortLine("short"), "short");
  assert.equal(shortLine("x".repeat(600)), `${"x".repeat(500)}… [100 more characters]`);
});

test("results from elsewhere are cut with a note, over all their parts", () => {
  const image = { type: "image", mediaType: "image/png", data: "" } as const;
  const parts = limitedContent([
    { type: "text", text: numbered(1_990) },
    image,
    { type: "text", text: numbered(20) },
    { type: "text", text: "more" },
  ]);
  assert.equal(parts[1], image);
  const [, , cut, none] = parts;
  assert.ok(
    cut?.type === "text" && cut.text.endsWith("line 10\n[lines 11-20 of 20 were left out: too long]"),
  );
  assert.ok(none?.type === "text" && none.text === "[lines 1-1 of 1 were left out: too long]");
});
