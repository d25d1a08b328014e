// Text for terminals that do not know UTF-8: to them, a byte of another character could be a control character.

import { glyphsOf, glyphWidth } from "./word-wrap.ts";

/** A terminal whose locale is not named is taken to know UTF-8, as nearly all do. */
export function hasUtf8(environment: NodeJS.ProcessEnv): boolean {
  const { LC_ALL: all, LC_CTYPE: type, LANG: language } = environment;
  const locale = [all, type, language].find((each) => each !== undefined && each !== "");
  return locale === undefined || /utf-?8/i.test(locale);
}

/** Characters that look alike, each as wide as the other. */
const alike: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "-": "\u00b7\u2010\u2011\u2012\u2013\u2014\u2015\u2500\u2501\u2212",
    "|": "\u2502\u2503",
    "~": "\u2026",
    ">": "\u203a\u25b6\u2192\u276f",
    "<": "\u2039\u25c0\u2190",
    "+": "\u2713\u256d\u256e\u256f\u2570\u250c\u2510\u2514\u2518\u251c\u2524\u252c\u2534\u253c",
    x: "\u2717\u00d7",
    "*": "\u2022\u25d0\u25d1\u25d2\u25d3\u21bb",
    "'": "\u2018\u2019",
    '"': "\u201c\u201d\u201e",
    " ": "\u00a0",
  }).flatMap(([ascii, others]) => [...others].map((other) => [other, ascii] as const)),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours stay
const ascii = /^[\x00-\x7f]*$/;

/** As many columns in ASCII. What has nothing like it is a question mark. */
export function asciiText(text: string): string {
  if (ascii.test(text)) return text;
  let shown = "";
  for (const glyph of glyphsOf(text))
    shown += ascii.test(glyph) ? glyph : (alike.get(glyph) ?? "?".repeat(glyphWidth(glyph)));
  return shown;
}
