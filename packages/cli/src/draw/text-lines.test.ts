import assert from "node:assert/strict";
import { test } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import fc from "fast-check";
import { brokenLines, clipped, sourceLines, widthOf, wrappedWords } from "./text-lines.ts";

test("a line ends between words, and a word that is longer than a line is broken", () => {
  assert.deepEqual(wrappedWords("one two three four five six seven", 20), [
    "one two three four",
    "five six seven",
  ]);
  assert.deepEqual(wrappedWords("exactly twenty chars and", 20), ["exactly twenty chars", "and"]);
  assert.deepEqual(wrappedWords("    indented stays  here", 24), ["    indented stays  here"]);
  assert.deepEqual(wrappedWords(`see ${"a".repeat(25)} for more`, 20), [
    "see",
    "a".repeat(20),
    "aaaaa for more",
  ]);
});

test("wide characters take two columns, and a line may end between them", () => {
  assert.deepEqual(wrappedWords("漢字漢字漢字漢字漢字漢字漢字", 20), ["漢字漢字漢字漢字漢字", "漢字漢字"]);
  assert.deepEqual(wrappedWords("漢字漢字漢字漢字漢字。漢字", 20), ["漢字漢字漢字漢字漢", "字。漢字"]);
  assert.deepEqual(wrappedWords("👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 family dinners", 20), [
    "👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 family",
    "dinners",
  ]);
});

test("a colour goes on in the next line, and ends with each", () => {
  assert.deepEqual(brokenLines("\u001b[31mabcdef\u001b[0mgh", 4), [
    "\u001b[31mabcd\u001b[0m",
    "\u001b[31mef\u001b[0mgh",
  ]);
});

test("what does not fit is cut with a mark, never inside a character", () => {
  assert.equal(clipped("abcdef", 6), "abcdef");
  assert.equal(clipped("abcdefg", 6), "abcde…");
  assert.equal(clipped("漢字漢字", 6), "漢字…");
  assert.equal(clipped("abcdefg", 6, "..."), "abc...");
});

test("tabs are blanks, and an overlong line loses its middle", () => {
  assert.deepEqual(sourceLines("a\tb\n\tc"), ["a   b", "    c"]);
  const [line = ""] = sourceLines("x".repeat(1_000_000));
  assert.match(line, /^x{5000} … 990,000 more characters … x{5000}$/);
});

test("whatever the text, no line is too wide and nothing is lost", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 200 });
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 60 }), (given, width) => {
      const [line = ""] = sourceLines(given.replaceAll(/[\p{C}\p{Z}\p{M}]/gu, " "));
      for (const lines of [wrappedWords(line, width), brokenLines(line, width)]) {
        for (const each of lines) assert.ok(visibleWidth(each) <= width, JSON.stringify({ each, width }));
        assert.equal(lines.join("").replaceAll(" ", ""), line.replaceAll(" ", ""));
      }
      assert.ok(widthOf(clipped(line, width)) <= width);
    }),
  );
});
