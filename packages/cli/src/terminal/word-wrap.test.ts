// Lines that end between words, however the text is cut into pieces.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WordWrap } from "./word-wrap.ts";

/** The same in one piece and character by character, whatever the columns. */
function wrapped(text: string, columns: number | undefined): string {
  const whole = new WordWrap(() => columns);
  const once = whole.push(text) + whole.end();
  const pieces = new WordWrap(() => columns);
  const piecemeal = [...text].map((piece) => pieces.push(piece)).join("") + pieces.end();
  assert.equal(piecemeal, once);
  return once;
}

test("a line ends between words, and at line ends of the text", () => {
  assert.equal(
    wrapped("one two three four five six seven\n\neight", 20),
    "one two three four\nfive six seven\n\neight",
  );
  assert.equal(wrapped("exactly twenty chars and", 20), "exactly twenty chars\nand");
  assert.equal(wrapped("    indented stays  here", 24), "    indented stays  here");
});

test("without a terminal, and in a very narrow one, text stays as it is", () => {
  const text = "a word and  another \n and so on";
  assert.equal(wrapped(text, undefined), text);
  assert.equal(wrapped(text, 8), text);
});

test("a word that is longer than a line stays in one piece", () => {
  const long = `https://example.org/${"a".repeat(60)}`;
  assert.equal(wrapped(`see ${long} for more of that`, 30), `see ${long} for\nmore of that`);
});

test("nothing is held back but the word that is being written", () => {
  const wrap = new WordWrap(() => 40);
  assert.deepEqual(
    ["The qu", "ick brown", " fox", "\n", "next"].map((piece) => wrap.push(piece)),
    ["The", " quick", " brown", " fox\n", ""],
  );
  assert.equal(wrap.end(), "next");
  assert.equal(wrap.push("x".repeat(50)), "x".repeat(50));
  assert.equal(wrap.push("y"), "y", "a word that fills a line is not waited for");
});

test("code between fences stays as it is, also where it looks like text", () => {
  const code = `const text = "${"word ".repeat(20)}";\n\`\`\`not the end\n`;
  assert.equal(
    wrapped(`look at this piece of code:\n\`\`\`ts\n${code}\`\`\`\nand this is text again`, 20),
    `look at this piece\nof code:\n\`\`\`ts\n${code}\`\`\`\nand this is text\nagain`,
  );
});

test("wide characters take two columns, and a line may end between them", () => {
  assert.equal(wrapped("漢字漢字漢字漢字漢字漢字漢字", 20), "漢字漢字漢字漢字漢字\n漢字漢字");
  assert.equal(wrapped("漢字漢字漢字漢字漢字。漢字", 20), "漢字漢字漢字漢字漢\n字。漢字");
  assert.equal(wrapped("👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 family dinners", 20), "👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 family\ndinners");
  // an accent that is a character of its own takes no room
  assert.equal(
    wrapped(`${"e\u0301".repeat(9)} ${"e\u0301".repeat(10)}`, 20),
    `${"e\u0301".repeat(9)} ${"e\u0301".repeat(10)}`,
  );
});
