import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { painter } from "../terminal/paint.ts";
import { markdownLines } from "./markdown-lines.ts";
import { StreamedMarkdown } from "./streamed-markdown.ts";

const plain = painter(false, {});

const document = `# A title

Some **bold** text that is long enough to be wrapped at forty columns.

- one
- two
  - nested
- three

1. first
2. second

\`\`\`ts
const a = 1;

const b = \`\${a}\`;
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> a quote

The end.`;

/** All lines after the text came in these pieces. */
function streamed(pieces: readonly string[], width = 40): string[] {
  const markdown = new StreamedMarkdown(plain);
  const lines: string[] = [];
  for (const piece of pieces) {
    markdown.push(piece);
    lines.push(...markdown.takeFinished(width));
    markdown.rest(width);
  }
  return [...lines, ...markdown.end(width)];
}

test("text that comes in pieces is drawn as if it came whole", () => {
  const whole = markdownLines(document, 40, plain);
  assert.deepEqual(streamed([document]), whole);
  assert.deepEqual(streamed([...document]), whole);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 40 }), (sizes) => {
      const pieces: string[] = [];
      let at = 0;
      for (const size of [...sizes, document.length]) {
        pieces.push(document.slice(at, at + size));
        at += size;
      }
      assert.deepEqual(streamed(pieces), whole);
    }),
    { numRuns: 50 },
  );
});

test("a block is finished when the next one begins, code line by line, lists item by item", () => {
  const markdown = new StreamedMarkdown(plain);
  const after = (text: string) => {
    markdown.push(text);
    return markdown.takeFinished(40);
  };
  assert.deepEqual(after("A paragraph"), []);
  assert.deepEqual(markdown.rest(40), ["A paragraph"]);
  assert.deepEqual(after(" goes on.\n\nAnother"), ["A paragraph goes on."]);
  assert.deepEqual(markdown.rest(40), ["", "Another"]);
  assert.deepEqual(after("\n\n- one\n- tw"), ["", "Another", "", "- one"]);
  assert.deepEqual(markdown.rest(40), ["- tw"]);
  assert.deepEqual(after("o\n\n```js\nlet a\nlet"), ["- two", "", "  let a"]);
  assert.deepEqual(markdown.rest(40), ["  let"]);
  assert.deepEqual(after(" b\n```\ntext"), ["  let b"]);
  assert.deepEqual(markdown.end(40), ["", "text"]);
});

test("the address of a link is shown, whatever its text says (TH5)", () => {
  assert.deepEqual(markdownLines("[https://good.example](https://evil.example)", 80, plain), [
    "https://good.example (https://evil.example)",
  ]);
});

test("escape sequences never reach the terminal, also if they are cut", () => {
  const lines = streamed(["a \u001b]0;", "evil\u0007 b \u001b[2", "J c\u202e d"]);
  assert.deepEqual(lines, ["a  b  c\\u202e d"]);
});

test("one endless line does not make each piece slower", () => {
  const markdown = new StreamedMarkdown(plain);
  let longest = 0;
  let count = 0;
  for (let at = 0; at < 300; at += 1) {
    markdown.push("word ".repeat(200));
    count += markdown.takeFinished(80).length;
    longest = Math.max(longest, markdown.rest(80).length);
  }
  assert.ok(count > 3000 && longest < 300, `${count} finished, ${longest} at most in the rest`);
});
