// Draws Markdown as lines of a terminal. The text must be safe (see terminal/sanitise.ts).

import { Markdown, type MarkdownTheme, setCapabilityOverrides } from "@earendil-works/pi-tui";
import type { Paint } from "../terminal/paint.ts";
import { highlighted } from "./highlight.ts";
import { brokenLines, wrappedWords } from "./text-lines.ts";

// the address of a link is shown beside its text, which may name another one
setCapabilityOverrides({ hyperlinks: false });

/** Nobody nests so deep, and each level takes more time than the one before. */
const tooDeep = /^(?:[ \t]*(?:>|[-*+]|\d+[.)])[ \t]*){16}|^[ \t]{48,}(?:[-*+>]|\d+[.)])[ \t]/m;

/** Lines of at most `width` columns. */
export function markdownLines(text: string, width: number, paint: Paint): string[] {
  if (tooDeep.test(text)) return text.split("\n").flatMap((line) => wrappedWords(line, width));
  const options = { preserveOrderedListMarkers: true, renderLatex: false };
  const drawn = new Markdown(text, 0, 0, themeOf(paint), undefined, options).render(width);
  // what stands in a deep list may get no room
  return drawn.flatMap((line) => brokenLines(line.trimEnd(), width));
}

const made = new WeakMap<Paint, MarkdownTheme>();

function themeOf(paint: Paint): MarkdownTheme {
  const known = made.get(paint);
  if (known !== undefined) return known;
  const dim = (text: string) => paint("dim", text);
  const strong = (text: string) => paint("strong", text);
  const same = (text: string) => text;
  const theme: MarkdownTheme = {
    heading: (text) => paint("heading", text),
    link: (text) => paint("link", text),
    linkUrl: dim,
    code: (text) => paint("code", text),
    codeBlock: same,
    codeBlockBorder: dim,
    quote: dim,
    quoteBorder: dim,
    hr: dim,
    listBullet: (text) => paint("accent", text),
    bold: strong,
    italic: same,
    strikethrough: dim,
    underline: same,
    highlightCode: (code, language) => highlighted(code, language, paint),
  };
  made.set(paint, theme);
  return theme;
}
