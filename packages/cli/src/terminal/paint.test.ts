import assert from "node:assert/strict";
import { test } from "node:test";
import { painter, themeNames } from "./paint.ts";

const ground = (env: NodeJS.ProcessEnv, theme?: (typeof themeNames)[number]) =>
  painter(true, env, theme)("addedLine", "x");

test("the background of changed lines suits what the terminal says of itself", () => {
  const [palette, fine, light] = [
    ground({ TERM: "rxvt" }),
    ground({ COLORTERM: "truecolor" }),
    ground({}, "light"),
  ];
  assert.equal(new Set([palette, fine, light]).size, 3);
  assert.equal(ground({ TERM: "xterm-256color" }), fine);
  assert.equal(ground({ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal" }), palette);
  assert.equal(ground({ TERM: "screen-256color" }), palette);
  assert.equal(ground({ TERM: "screen-256color", TMUX: "/tmp/x" }), fine);
  // black on white, and white on black
  assert.equal(ground({ COLORFGBG: "0;15", COLORTERM: "truecolor" }), light);
  assert.equal(ground({ COLORFGBG: "15;default;0", COLORTERM: "truecolor" }), fine);
});

test("every theme tells added, removed and unchanged lines apart", () => {
  for (const theme of themeNames) {
    const paint = painter(true, {}, theme);
    assert.equal(new Set([paint("addedLine", "x"), paint("removedLine", "x"), "x"]).size, 3, theme);
  }
  assert.equal(painter(true, { NO_COLOR: "1" })("addedLine", "x"), "x");
});
