import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { defaultFrameLimits, webPlatform } from "./byte-channel.ts";
import { exceedsDepth, frameParser } from "./frame-parser.ts";

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

/** What becomes of each text, and how many of them were parsed to find out. */
function outcomes(texts: readonly string[]): { seen: unknown[]; parsed: number } {
  const seen: unknown[] = [];
  const parser = frameParser(
    { message: (value) => seen.push({ value }), reject: ({ kind }) => seen.push(kind) },
    defaultFrameLimits,
    webPlatform,
  );
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (...args) => {
    parsed++;
    return parse(...args);
  };
  try {
    for (const text of texts) parser.frame(text);
  } finally {
    JSON.parse = parse;
  }
  return { seen, parsed };
}

test("printed text is refused without being parsed (N002, N003)", () => {
  const noise = [
    "[INFO] starting",
    "[ 0.004321] usb 1-1: new device",
    "[20:51:04] Using config",
    "[2026-11-15T10:00:00Z] ready",
    "[42] forked",
    "[true story] it was",
    "[trace] here",
    "[] nothing found",
    "{} nothing found",
    "{ a: 1 }",
    "2026-11-15 10:00:00 INFO ready",
    "10:00:00.123 ready",
    "-- done",
    "007 is not a number",
    "12 warnings",
    '"config.json" was not found',
    '"unfinished',
    '["a.js" is missing]',
    "true story",
    "null pointer",
    "nullable",
    "false alarm",
    "npm warn deprecated",
    "> build",
  ];
  const { seen, parsed } = outcomes(noise);
  assert.deepEqual([seen, parsed], [noise.map(() => "parse"), 0]);
});

test("a text is refused exactly if JSON.parse refuses it, however it begins", () => {
  const blank = fc.string({ unit: fc.constantFrom(" ", "\t", "\r", "\n", "\f"), maxLength: 3 });
  const piece = fc.oneof(
    fc.json({ maxDepth: 2 }),
    fc.constantFrom(...'[]{},:"-0123456789.eE+ truefalsn\\'.split(""), "true", "null", "-0", "1e5", '\\"'),
    blank,
  );
  const texts = fc.tuple(blank, fc.array(piece, { minLength: 1, maxLength: 6 }), blank);
  fc.assert(
    fc.property(texts, ([before, pieces, after]) => {
      const text = before + pieces.join("") + after;
      const expected = () => {
        try {
          return [{ value: JSON.parse(text) }];
        } catch {
          return text.trim() === "" ? [] : ["parse"]; // JSON.parse throws for every text that is not JSON
        }
      };
      assert.deepEqual(outcomes([text]).seen, expected());
    }),
    { numRuns: 2_000 },
  );
});
