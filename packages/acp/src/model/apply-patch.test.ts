import assert from "node:assert/strict";
import { test } from "node:test";
import { textsFromPatch } from "./apply-patch.ts";
import { gitPatch } from "./git-patch.ts";

const path = "/project/a.txt";
const oldText = `${Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n")}\n`;
const newText = oldText.replace("line 3\n", "line three\n").replace("line 30\n", "").replace("line 35", "35");
const patch = gitPatch(path, oldText, newText);

test("a patch that has nothing on the file gives nothing", () => {
  assert.equal(textsFromPatch(patch, "/project/b.txt", oldText), undefined);
  assert.equal(textsFromPatch("no patch at all", path, oldText), undefined);
});

test("a hunk that cannot be read gives nothing rather than a part of the change", () => {
  const cut = patch.slice(0, patch.lastIndexOf("+35"));
  assert.equal(textsFromPatch(cut, path, oldText), undefined);
});

test("the file before the change gives the text after it", () => {
  assert.deepEqual(textsFromPatch(patch, path, oldText), { oldText, newText, isPartial: false });
});

test("the file after the change gives the text before it", () => {
  assert.deepEqual(textsFromPatch(patch, path, newText), { oldText, newText, isPartial: false });
});

test("without a file that fits, the changed lines are all that is known", () => {
  for (const current of [undefined, "something else\n"]) {
    const texts = textsFromPatch(patch, path, current);
    assert.equal(texts?.isPartial, true);
    assert.match(texts?.newText ?? "", /line three/);
    assert.doesNotMatch(texts?.newText ?? "", /line 20/);
  }
});

test("new and deleted files need no file", () => {
  assert.deepEqual(textsFromPatch(gitPatch(path, undefined, newText), path, undefined), {
    oldText: undefined,
    newText,
    isPartial: false,
  });
  assert.deepEqual(textsFromPatch(gitPatch(path, oldText, undefined), path, undefined), {
    oldText,
    newText: undefined,
    isPartial: false,
  });
});

test("a last line without an end keeps it so", () => {
  const bare = gitPatch(path, "a\nb", "a\nc");
  assert.deepEqual(textsFromPatch(bare, path, "a\nb"), {
    oldText: "a\nb",
    newText: "a\nc",
    isPartial: false,
  });
});

test("git's own prefixes are understood", () => {
  const prefixed = patch.replaceAll(`--- ${path}`, `--- a${path}`).replaceAll(`+++ ${path}`, `+++ b${path}`);
  assert.equal(textsFromPatch(prefixed, path, oldText)?.newText, newText);
});
