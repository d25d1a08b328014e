import assert from "node:assert/strict";
import { test } from "node:test";
import { asciiText, hasUtf8 } from "./ascii-text.ts";
import { displayWidth } from "./word-wrap.ts";

test("a locale that is named and is not UTF-8 gets ASCII", () => {
  assert.equal(hasUtf8({}), true);
  assert.equal(hasUtf8({ LC_ALL: "C" }), false);
  assert.equal(hasUtf8({ LC_ALL: "", LANG: "de_DE.UTF-8" }), true);
  assert.equal(hasUtf8({ LC_CTYPE: "en_US.ISO-8859-1", LANG: "de_DE.UTF-8" }), false);
  assert.equal(hasUtf8({ LC_ALL: "C.utf8" }), true);
});

test("text in ASCII takes as many columns, and keeps its colours", () => {
  assert.equal(asciiText("agent \u00b7 mode \u2502 a\u2026"), "agent - mode | a~");
  assert.equal(asciiText("\u001b[31m\u2713 done\u001b[0m"), "\u001b[31m+ done\u001b[0m");
  for (const text of ["漢字", "na\u00efve", "e\u0301", "👩‍👩‍👧‍👦 👍🏽", "\u2500\u2510", "\u009b2J"]) {
    const shown = asciiText(text);
    assert.match(shown, /^[\x20-\x7e]*$/);
    assert.equal(displayWidth(shown), displayWidth(text), JSON.stringify(text));
  }
});
