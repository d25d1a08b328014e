// Draws Markdown as lines of a terminal. The text must be safe (see terminal/sanitise.ts).

import { Markdown, type MarkdownTheme, setCapabilityOverrides } from "@earendil-works/pi-tui";
import { marked } from "marked";
import type { Paint } from "../terminal/paint.ts";
import { highlighted } from "./highlight.ts";
import { brokenLines, wrappedWords } from "./text-lines.ts";

// the address of a link is shown beside its text, which may name another one
setCapabilityOverrides({ hyperlinks: false });

/** Nobody nests so deep, and each level takes more time than the one before. */
const tooDeep = /^(?:[ \t]*(?:>|[-*+]|\d+[.)])[ \t]*){16}|^[ \t]{48,}(?:[-*+>]|\d+[.)])[ \t]/m;

/** Marks of emphasis in one line: each is compared with all before it. */
const tooMany = 400;

function isUnreasonable(text: string): boolean {
  if (tooDeep.test(text)) return true;
  return text.split("\n").some((line) => line.length > tooMany && line.split(/[*_~`]/).length > tooMany);
}

/** Stands where the fence of a block of code would be: the code is indented, so that nobody needs it. Safe text has no such character. */
const border = "\u0001";

/** Of code that is drawn as it is. */
function withoutFence(lines: readonly string[]): readonly string[] {
  const isFence = (line: string | undefined) => /^ {0,3}(?:`{3,}|~{3,})/.test(line ?? "");
  return isFence(lines[0]) && isFence(lines.at(-1)) ? lines.slice(1, -1) : lines;
}

/** Lines of at most `width` columns. */
export function markdownLines(text: string, width: number, paint: Paint): string[] {
  if (isUnreasonable(text))
    return withoutFence(text.split("\n")).flatMap((line) => wrappedWords(line, width));
  const options = { preserveOrderedListMarkers: true, renderLatex: false };
  const lines: string[] = [];
  for (const piece of piecesOf(text)) {
    if (lines.length > 0) lines.push("");
    const markdown = new Markdown(piece, 0, 0, themeOf(paint), undefined, options);
    const drawn = withAlignedTables(markdown).render(width);
    // what stands in a deep list may get no room
    for (const line of drawn) if (!line.includes(border)) lines.push(...brokenLines(line.trimEnd(), width));
  }
  return lines;
}

/** A long text takes more than twice the time of its halves. */
const longestPiece = 8 * 1024;

/** Whole blocks. */
function piecesOf(text: string): string[] {
  if (text.length <= longestPiece) return [text];
  const pieces: string[] = [];
  let now = "";
  for (const { raw } of marked.lexer(text)) {
    now += raw;
    if (now.length < longestPiece) continue;
    pieces.push(now);
    now = "";
  }
  return [...pieces, now]
    .map((piece) => piece.replace(/^(?:[ \t]*\n)+/, "").trimEnd())
    .filter((piece) => piece !== "");
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
    codeBlockBorder: () => border,
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

interface DrawsTables {
  renderTable(table: { readonly align?: readonly (string | null)[] }, ...rest: readonly unknown[]): string[];
}

/** Aligns the columns of tables as their author wants: the drawing of pi-tui puts everything to the left. */
function withAlignedTables(markdown: Markdown): Markdown {
  // as: it is private there; the version is pinned, and a test shows that it is called
  const drawn = markdown as unknown as DrawsTables;
  const draw = drawn.renderTable.bind(markdown);
  drawn.renderTable = (table, ...rest) => {
    const lines = draw(table, ...rest);
    const { align = [] } = table;
    return align.some((each) => each === "right" || each === "center")
      ? lines.map((line) => alignedRow(line, align))
      : lines;
  };
  return markdown;
}

/** Moves the blanks at the end of each cell. */
function alignedRow(line: string, align: readonly (string | null)[]): string {
  if (!line.startsWith("│ ") || !line.endsWith(" │")) return line;
  const cells = line.slice(2, -2).split(" │ ");
  // a bar in a cell looks like its end
  if (cells.length !== align.length) return line;
  return `│ ${cells.map((cell, at) => alignedCell(cell, align[at])).join(" │ ")} │`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a cell may be painted
const parts = /^((?:\u001b\[[\d;]*m)*)(.*?)( *)((?:\u001b\[[\d;]*m)*)$/;

function alignedCell(cell: string, align: string | null | undefined): string {
  const [, begin = "", text = "", blanks = "", end = ""] = parts.exec(cell) ?? [];
  const left = align === "right" ? blanks.length : align === "center" ? blanks.length >> 1 : 0;
  return left === 0 ? cell : `${begin}${blanks.slice(0, left)}${text}${blanks.slice(left)}${end}`;
}
