// Tests how lines of our own are wrapped.

import assert from "node:assert/strict";
import { test } from "node:test";
import { wrapLine, wrapLines } from "./wrap-line.ts";

test("a line of ours breaks between words, and further lines are indented", () => {
  const line = "parley: the agent did not answer, and nothing was written to its stderr";
  assert.equal(
    wrapLine(line, 40, "  "),
    "parley: the agent did not answer, and\n  nothing was written to its stderr",
  );
  assert.equal(wrapLine(line, undefined, "  "), line);
  assert.equal(wrapLine(line, 200, "  "), line);
  assert.equal(wrapLine(line, 10, "  "), line, "too narrow for any text");
});

test("colours have no width, and a word that is too long stays whole", () => {
  const red = "\u001b[31mred\u001b[0m";
  assert.equal(wrapLine(`${red} ${red} ${red} ${red} ${red}`, 20), `${red} ${red} ${red} ${red} ${red}`);
  const path = `/${"x".repeat(40)}`;
  assert.equal(wrapLine(`see ${path} for it`, 24, "  "), `see\n  ${path}\n  for it`);
});

test("of several lines each breaks between words, except for code and data", () => {
  const text = `? ${"word ".repeat(5)}end\n    ${"word ".repeat(5)}end`;
  assert.equal(
    wrapLines(text, 20, "      "),
    `? word word word\n      word word end\n    ${"word ".repeat(5)}end`,
  );
});
