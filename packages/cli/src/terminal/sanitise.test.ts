import assert from "node:assert/strict";
import { test } from "node:test";
import { shownSource } from "@parley/client/policy";
import fc from "fast-check";
import {
  escapedJson,
  escapedLine,
  escapedSource,
  messageLines,
  safeLine,
  safeText,
  TextSanitiser,
} from "./sanitise.ts";

test("plain text in any language stays as it is", () => {
  const text = "Grüße, 世界 👋\n\tif (a < b) { return `c` }\n";
  assert.equal(safeText(text), text);
});

test("escape sequences of every kind are left out", () => {
  for (const sequence of [
    "\u001b[31m",
    "\u001b[2J",
    "\u001b]0;title\u0007",
    "\u001b]8;;https://evil.example\u001b\\",
    "\u001bP1$r0m\u001b\\",
    "\u001b_app\u001b\\",
    "\u009b31m",
    "\u009d52;c;aGk=\u009c",
    "\u001bc",
    "\u001b(0",
    "\u0007\u0008\u007f",
  ]) {
    assert.equal(safeText(`a${sequence}b`), "ab", JSON.stringify(sequence));
  }
});

test("every character that a question shows by its number is shown by its number everywhere, except joiners", () => {
  const joiners = new Set(["\u200c", "\u200d"]);
  let count = 0;
  for (let code = 0; code <= 0x10ffff; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    if (shownSource(character) === character || joiners.has(character)) continue;
    count += 1;
    for (const shown of [safeText(`a${character}b`), safeLine(`a${character}b`), escapedLine(character)])
      assert.ok(!shown.includes(character), code.toString(16));
    assert.ok(!escapedSource(character).includes(character) || /[\n\t]/.test(character));
    const json = escapedJson(character);
    assert.ok(!json.includes(character));
    assert.equal(JSON.parse(json), character);
  }
  assert.ok(count > 150);
  assert.equal(safeText("a\u{e0041}\u3164\u00ad\u034fb"), "a\\u{e0041}\\u3164\\u00ad\\u034fb");
});

test("text that would run backwards is shown as what it is", () => {
  assert.equal(safeText("a\u202eb\u2066c\u061cd"), "a\\u202eb\\u2066c\\u061cd");
});

test("a return cannot overwrite what was shown", () => {
  assert.equal(safeText("safe\rrm -rf\r\nend"), "safe\nrm -rf\nend");
});

test("a sequence that never ends does not swallow what follows for ever", () => {
  const safe = safeText(`\u001b]0;${"x".repeat(5000)} the rest`);
  assert.match(safe, / the rest$/);
});

test("where a text is cut makes no difference", () => {
  const pieces = fc.array(
    fc.constantFrom(
      "a",
      "\n",
      "\r",
      "\u001b",
      "[",
      "]",
      "3",
      "1",
      "m",
      ";",
      "\u0007",
      "\\",
      "\u009b",
      "\u202e",
      "P",
      "é",
    ),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(pieces, fc.nat(40), (characters, at) => {
      const text = characters.join("");
      const cut = new TextSanitiser();
      assert.equal(cut.push(text.slice(0, at)) + cut.push(text.slice(at)), safeText(text));
    }),
    { numRuns: 2_000 },
  );
});

test("nothing that is shown moves the cursor", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      assert.doesNotMatch(safeText(text), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      assert.doesNotMatch(safeLine(text), /[\n\t]/);
    }),
    { numRuns: 2_000 },
  );
});

test("nothing of what will be in a file is left out", () => {
  assert.equal(
    escapedSource("a\r\n\u001b]0;\nb\u0007\tc\rd\u202e"),
    "a\n\\u001b]0;\nb\\u0007\tc\\u000dd\\u202e",
  );
});

test("further lines of what others say are set in, so that none looks like one of ours", () => {
  assert.equal(
    messageLines("it failed: x\nparley: all is well\r\n"),
    "parley: it failed: x\n  parley: all is well\n",
  );
});
