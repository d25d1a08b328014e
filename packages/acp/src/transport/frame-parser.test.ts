import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { exceedsDepth } from "./frame-parser.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const nested = (levels: number, open: string, close: string) =>
  `${open.repeat(levels)}${open.endsWith(":") ? "1" : ""}${close.repeat(levels)}`;

test("512 levels are within the limit, 513 beyond it, of arrays, objects and both (N077, N078)", () => {
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"a":', "}]"],
  ] as const) {
    const perRound = (open + close).match(/[[{]/g)?.length ?? 1;
    assert.equal(exceedsDepth(nested(512 / perRound, open, close), 512), false);
    const deeper = nested(512 / perRound, open, close).replace(/1|\[\]/, (inner) => `[${inner}]`);
    assert.equal(exceedsDepth(deeper, 512), true);
  }
});

test("many brackets side by side are not deep", () => {
  assert.equal(exceedsDepth(`[${"[],".repeat(10_000)}{}]`, 2), false);
});

test("brackets inside strings, after escaped quotes and after backslashes do not count (N077)", () => {
  const strings = ["[[[[", '\\"[[[[', "\\\\", '\\\\\\"{{{{', "\\u005b[[[["];
  for (const text of strings) {
    assert.equal(
      exceedsDepth(JSON.stringify({ s: JSON.parse(`"${text}"`) }).replace(/^/, " "), 2),
      false,
      text,
    );
    assert.equal(exceedsDepth(`["${text}",["${text}",[1]]]`, 2), true, text);
    assert.equal(exceedsDepth(`["${text}",["${text}",1]]`, 2), false, text);
  }
});

test("the depth of any JSON is judged as its value says", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 6 }), (value, max) => {
      assert.equal(exceedsDepth(JSON.stringify(value), max), depthOf(value) > max);
    }),
    { numRuns: 500 },
  );
});
