// Draws Markdown as lines of a terminal. The text must be safe (see terminal/sanitise.ts).

import { Markdown, type MarkdownTheme, setCapabilityOverrides } from "@earendil-works/pi-tui";
import type { Paint } from "../terminal/paint.ts";
import { highlighted } from "./highlight.ts";

// the address of a link is shown beside its text, which may name another one
setCapabilityOverrides({ hyperlinks: false });

/** Lines of at most `width` columns. */
export function markdownLines(text: string, width: number, paint: Paint): string[] {
  const options = { preserveOrderedListMarkers: true, renderLatex: false };
  const drawn = new Markdown(text, 0, 0, themeOf(paint), undefined, options).render(width);
  return drawn.map((line) => line.trimEnd());
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
