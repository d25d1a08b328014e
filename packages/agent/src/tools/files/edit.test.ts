import assert from "node:assert/strict";
import { test } from "node:test";
import { probe, refusal } from "../../../test/support/tool-probe.ts";
import { editTool } from "./edit.ts";
import { readTool } from "./read.ts";

const one = (path: string, oldText: string, newText: string, replaceAll?: boolean) => ({
  path,
  edits: [{ oldText, newText, ...(replaceAll === undefined ? {} : { replaceAll }) }],
});

test("a text that is there once is replaced, with the diff and the line in the presentation", async (t) => {
  const { call, put, get, at } = await probe(t);
  put("a.ts", "one\ntwo\nthree\n");
  const { told, prepared } = await call(editTool, one("a.ts", "two", "2"));
  assert.equal(get("a.ts"), "one\n2\nthree\n");
  assert.equal(told, "edited a.ts in 1 place, first in line 2\n1:one\n2:2\n3:three");
  const { title, kind, locations, content } = prepared.presentation;
  assert.deepEqual([title, kind, locations], ["Edit a.ts", "edit", [{ path: at("a.ts"), line: 2 }]]);
  const [diff] = content ?? [];
  assert.ok(diff?.type === "diff");
  assert.deepEqual([diff.oldText, diff.newText], ["one\ntwo\nthree\n", "one\n2\nthree\n"]);
});

test("several edits apply together, or none of them", async (t) => {
  const { call, put, get } = await probe(t);
  put("a", "one\ntwo\nthree\n");
  const both = [
    { oldText: "three", newText: "3" },
    { oldText: "one", newText: "two" },
  ];
  await call(editTool, { path: "a", edits: both });
  assert.equal(get("a"), "two\ntwo\n3\n");
  const half = [
    { oldText: "3", newText: "drei" },
    { oldText: "four", newText: "vier" },
  ];
  assert.match(await refusal(call(editTool, { path: "a", edits: half })), /^oldText of edit 2 is not in a/);
  const overlapping = [
    { oldText: "two\ntwo", newText: "x" },
    { oldText: "two\n3", newText: "y" },
  ];
  assert.equal(
    await refusal(call(editTool, { path: "a", edits: overlapping })),
    "edits 1 and 2 overlap in a; make them one edit",
  );
  assert.equal(get("a"), "two\ntwo\n3\n");
});

test("a text that occurs several times is an error with its lines, unless replaceAll is set", async (t) => {
  const { call, put, get } = await probe(t);
  put("a", "x = 1\ny\nx = 1\n");
  assert.equal(
    await refusal(call(editTool, one("a", "x = 1", "x = 2"))),
    "oldText is in a 2 times, in lines 1, 3; add surrounding lines to make it unique, or set replaceAll",
  );
  await call(editTool, one("a", "x = 1", "x = 2", true));
  assert.equal(get("a"), "x = 2\ny\nx = 2\n");
});

test("a text that is not there is an error that shows the nearest block", async (t) => {
  const { call, put } = await probe(t);
  put("a.ts", "import a\n\nfunction add(x: number, y: number) {\n  return x + y;\n}\n");
  assert.equal(
    await refusal(call(editTool, one("a.ts", "function add(a: number, y: number) {\n  return a + y;", "z"))),
    "oldText is not in a.ts. The closest match is in lines 3-4:\nfunction add(x: number, y: number) {\n  return x + y;\nCopy the text exactly from there.",
  );
  assert.equal(
    await refusal(call(editTool, one("a.ts", "quite something else", "z"))),
    "oldText is not in a.ts, and nothing similar is; read the file and copy the text from it",
  );
});

test("quotes, dashes, odd spaces and trailing space are tolerated, and only the match changes", async (t) => {
  const { call, put, get } = await probe(t);
  const rest = "keep \u201cthis\u201d \u2013 as\u00a0it is   \n";
  put("a", `${rest}say(\u2018hi\u2019) \u2014\u00a0now  \nnext\t\n${rest}`);
  const { told } = await call(editTool, one("a", "say('hi') - now\nnext\n", "done\n"));
  assert.equal(get("a"), `${rest}done\n${rest}`);
  assert.match(
    told,
    /^edited a in 1 place, first in line 2 \(1 matched except for quotes, dashes or spaces\)\n/,
  );
});

test("what is after a tolerant match on its line stays", async (t) => {
  const { call, put, get } = await probe(t);
  put("a", "x = \u201ca\u201d;  // note \u2013 kept  \n");
  await call(editTool, one("a", 'x = "a";', 'x = "b";'));
  assert.equal(get("a"), 'x = "b";  // note \u2013 kept  \n');
});

test("an exact match is preferred to tolerant ones", async (t) => {
  const { call, put, get } = await probe(t);
  put("a", '\u201cx\u201d\n"x"\n');
  await call(editTool, one("a", '"x"', "y"));
  assert.equal(get("a"), "\u201cx\u201d\ny\n");
});

test("a byte order mark and line ends are kept", async (t) => {
  const { call, put, get } = await probe(t);
  put("crlf", "\ufeffone\r\ntwo\r\nthree\r\n");
  await call(editTool, one("crlf", "one\ntwo\n", "1\n2\n2b\n"));
  assert.equal(get("crlf"), "\ufeff1\r\n2\r\n2b\r\nthree\r\n");
  await call(editTool, one("crlf", "2b", "a\nb"));
  assert.equal(get("crlf"), "\ufeff1\r\n2\r\na\r\nb\r\nthree\r\n");
  put("mixed", "one\r\ntwo\nthree\n");
  await call(editTool, one("mixed", "two\nthree", "2\n3"));
  assert.equal(get("mixed"), "one\r\n2\n3\n");
  put("bare", "no end");
  await call(editTool, one("bare", "end", "end\nat all"));
  assert.equal(get("bare"), "no end\nat all");
});

test("an edit that changes nothing is refused", async (t) => {
  const { call, put } = await probe(t);
  put("a", "one\r\n");
  assert.match(
    await refusal(call(editTool, one("a", "one", "one"))),
    /^oldText and its newText are the same/,
  );
  assert.match(await refusal(call(editTool, one("a", "one\r\n", "one\n"))), /^the edits do not change a/);
  assert.match(await refusal(call(editTool, one("a", "", "one"))), /must be a string that is not empty/);
});

test("a file that has changed since it was read is refused, and edited once it is read again", async (t) => {
  const { call, put, get } = await probe(t);
  put("a", "one\n");
  await call(readTool, { path: "a" });
  put("a", "one\ntwo\n");
  assert.equal(
    await refusal(call(editTool, one("a", "one", "1"))),
    "a has changed since it was read; read it again, then repeat the edit",
  );
  await call(readTool, { path: "a" });
  await call(editTool, one("a", "one", "1"));
  await call(editTool, one("a", "two", "2"));
  assert.equal(get("a"), "1\n2\n");
});

test("the text in the editor is what is edited", async (t) => {
  let buffer = "unsaved\n";
  const { call, put, get } = await probe(t, {
    version: 1,
    client: {
      files: {
        canRead: true,
        canWrite: true,
        readText: async () => buffer,
        async writeText(_, content) {
          buffer = content;
        },
      },
    },
  });
  put("a", "saved\n");
  await call(editTool, one("a", "unsaved", "better"));
  assert.deepEqual([buffer, get("a")], ["better\n", "saved\n"]);
});
