import assert from "node:assert/strict";
import { test } from "node:test";
import { growthOf } from "../../../../acp/test/support/growth.ts";
import { htmlText } from "./html-text.ts";

const base = new URL("https://example.org/docs/page.html");
const text = (html: string) => htmlText(html, base).text;

test("a page becomes Markdown, without what is there for the browser", () => {
  const page = htmlText(
    `<!doctype html><html><head><title> A &amp; B\n</title><style>p{}</style></head><body>
     <nav><a href="/">Home</a></nav><script>alert("x")</script>
     <h1>Title</h1><p>First   <b>bold</b> &lt;text&gt;
     with <a href="../other#part">a link</a>, <a href="#top">one to itself</a> and <a href="javascript:x()">a bad one</a>.</p>
     <p>Second<br>line with <code>code</code></p><img alt="a picture" src=x></body></html>`,
    base,
  );
  assert.equal(page.title, "A & B");
  assert.equal(
    page.text,
    "# Title\n\nFirst bold <text> with [a link](https://example.org/other#part), one to itself and a bad one.\n\nSecond\nline with `code`\n\n[image: a picture]",
  );
});

test("lists, code and tables keep their shape", () => {
  assert.equal(
    text("<ul><li>one<li><p>two</p><ul><li>deep</ul></ul><ol><li>a<li>b</ol>"),
    "- one\n- two\n  - deep\n\n1. a\n2. b",
  );
  assert.equal(text("<p>x<pre>a\n  b &lt; c\n</pre>y"), "x\n\n```\na\n  b < c\n```\n\ny");
  assert.equal(text("<table><tr><th>a<th>b<tr><td>1<td>2</table>"), "a | b\n1 | 2");
});

test("converting a page takes time linear in its length", () => {
  const many = (count: number) => "<div><p>word</p><ul><li><a href=x>y</a></ul></div>".repeat(count);
  const deep = (count: number) => `<p>begin${"<div>".repeat(count)}`;
  assert.ok(text(many(20_000)).length > 100_000);
  assert.ok(text(deep(300_000)).startsWith("begin"));
  for (const [page, size] of [
    [many, 5_000],
    [deep, 20_000],
  ] as const) {
    const growth = growthOf(size, (count) => text(page(count)));
    assert.ok(growth < 10, `four times the length costs ${growth} times as much`);
  }
});
