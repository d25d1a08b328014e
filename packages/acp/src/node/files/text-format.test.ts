import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeText, encodeText, formatOf, sliceLines } from "./file-content.ts";

test("consecutive ranges of lines add up to the text", () => {
  const texts = fc.array(fc.constantFrom("a", "é", "\n", "\r\n", "\r"), { maxLength: 30 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 5 }), (pieces, limit) => {
      const text = pieces.join("");
      let joined = "";
      for (let line = 1; line <= 40; line += limit) joined += sliceLines(text, { line, limit });
      assert.equal(joined, text);
    }),
  );
});

test("a text that is read and written back without its marks is the same file", () => {
  const line = fc.string({ unit: "grapheme", maxLength: 8 }).filter((text) => !/[\r\n\ufeff]/.test(text));
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom("\n", "\r\n"), fc.boolean(), (lines, end, marked) => {
      const bytes = Buffer.from((marked ? "\ufeff" : "") + lines.map((text) => text + end).join(""));
      const seen = decodeText(bytes, "/x", "utf-8");
      // As an editor does that knows one kind of line end.
      const edited = encodeText(seen.replaceAll("\r\n", "\n"), formatOf(bytes));
      assert.equal(edited.equals(bytes), true);
      assert.equal(encodeText(seen, formatOf(bytes)).equals(bytes), true);
    }),
  );
});
