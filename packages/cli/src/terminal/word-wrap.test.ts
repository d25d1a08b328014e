import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { breakableParts, displayWidth, glyphsOf, glyphWidth, graphemes } from "./word-wrap.ts";

/** Neighbours that could be one character together are made of these. */
const characters = fc.constantFrom(
  ..."a Zß…—│é漢字かなカナ한글！～",
  "\u0301",
  "\u200d",
  "\ufe0f",
  "\u1161",
  "\u11a8",
  "\u3099",
  "©",
  "®",
  "\u00ad",
  "👍🏽",
  "🇩",
  "Я",
  "Ω",
);

test("the cheap way and the careful one see the same characters and widths", () => {
  const pairs = fc.array(characters, { maxLength: 8 }).map((list) => list.join(""));
  fc.assert(
    fc.property(pairs, (text) => {
      const seen = [...graphemes(text)].map(({ segment }) => segment);
      assert.deepEqual([...glyphsOf(text)], seen);
      assert.equal(
        displayWidth(text),
        seen.reduce((sum, glyph) => sum + glyphWidth(glyph), 0),
      );
    }),
  );
});

test("every character of the cheap way is one by itself, and beside any other of them", () => {
  const odd: string[] = [];
  for (let code = 0x20; code < 0xff5f; code += 1) {
    const character = String.fromCharCode(code);
    const text = `${character}a${character}漢${character}각`;
    const width = [...graphemes(text)].reduce((sum, { segment }) => sum + glyphWidth(segment), 0);
    if (displayWidth(text) !== width || [...glyphsOf(text)].join("|") !== parts(text))
      odd.push(code.toString(16));
  }
  assert.deepEqual(odd, []);
});

function parts(text: string): string {
  return [...graphemes(text)].map(({ segment }) => segment).join("|");
}

test("a long line of wide characters is not taken apart one by one to measure it", (t) => {
  const segmented = t.mock.method(Intl.Segmenter.prototype, "segment");
  const line = "漢字かな交じり文、".repeat(10_000).replaceAll("、", "");
  assert.equal(displayWidth(line), 2 * line.length);
  assert.equal(breakableParts(line).length, line.length);
  assert.equal(segmented.mock.callCount(), 0);
});
