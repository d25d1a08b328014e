// Fits text into columns. Text must be safe (see terminal/sanitise.ts); it may have colours.

import { breakableParts, displayWidth, glyphsOf, glyphWidth } from "../terminal/word-wrap.ts";

/** A longer line loses its middle: nobody reads it, and measuring it takes time. */
const longestLine = 10_000;
const tabStop = 4;
/** More marks on one character would be drawn over other lines. */
const tooManyMarks = /(\p{M}{8})\p{M}+/gu;
const ascii = /^[\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
const colour = /\u001b\[[\d;]*m/;
const pieces = new RegExp(`(${colour.source})`);
const reset = "\u001b[0m";

/** The lines of a text without tabs, overlong lines and heaps of marks. */
export function sourceLines(text: string): string[] {
  return text.split("\n").map(drawable);
}

function drawable(line: string): string {
  if (line.length <= longestLine && ascii.test(line)) return line;
  const half = longestLine / 2;
  const cut =
    line.length <= longestLine
      ? line
      : `${whole(line.slice(0, half))} … ${count(line.length - longestLine)} more characters … ${whole(line.slice(-half))}`;
  return untabbed(ascii.test(cut) ? cut : cut.toWellFormed().replace(tooManyMarks, "$1"));
}

/** Without the half of a pair at either end. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}

/** With blanks instead of tabs. */
export function untabbed(line: string): string {
  if (!line.includes("\t")) return line;
  let column = 0;
  const parts = line.split("\t");
  return parts
    .map((part, at) => {
      if (at === parts.length - 1) return part;
      const width = column + displayWidth(part);
      const blanks = tabStop - (width % tabStop);
      column = width + blanks;
      return `${part}${" ".repeat(blanks)}`;
    })
    .join("");
}

/** Counts with separators, such as 12,345. What is no number of things is 0. */
export function count(number: number): string {
  return Number.isFinite(number) && number > 0 ? Math.floor(number).toLocaleString("en-US") : "0";
}

/** "1 line", "2 lines". */
export function counted(number: number, thing: string): string {
  return `${count(number)} ${thing}${number === 1 ? "" : "s"}`;
}

/** Columns of a line that may have colours. */
export function widthOf(line: string): number {
  return displayWidth(line.includes("\u001b") ? line.replaceAll(new RegExp(colour, "g"), "") : line);
}

/** The beginning of a line without colours, with `more` at its end if something is missing. */
export function clipped(line: string, width: number, more = "…"): string {
  if (width <= 0) return "";
  // a character has at most some ten code units
  const start = line.length > 40 * width ? whole(line.slice(0, 40 * width)) : line;
  if (start === line && displayWidth(line) <= width) return line;
  const room = width - displayWidth(more);
  if (room <= 0) return more.slice(0, width);
  const [first = ""] = brokenLines(start, room, 1);
  return `${first.trimEnd()}${more}`;
}

/** A line of words, broken between them. Longer words are broken too. */
export function wrappedWords(line: string, width: number): string[] {
  if (displayWidth(line) <= width) return [line];
  const lines: string[] = [];
  const [indent = ""] = /^ */.exec(line) ?? [];
  let now = indent.length < width / 2 ? indent : "";
  let column = now.length;
  let isEmpty = true;
  for (const word of line.slice(indent.length).split(" ")) {
    let blank = isEmpty ? "" : " ";
    for (const part of breakableParts(word)) {
      const size = displayWidth(part);
      if (column + blank.length + size <= width) {
        now += `${blank}${part}`;
        column += blank.length + size;
      } else {
        if (!isEmpty) lines.push(now);
        const pieces = brokenLines(part, width);
        now = pieces.pop() ?? "";
        column = displayWidth(now);
        for (const piece of pieces) lines.push(piece);
      }
      blank = "";
      isEmpty = false;
    }
  }
  return [...lines, now].map((each) => each.trimEnd());
}

/** A line of code or output, broken anywhere. Colours go on in the next line. At most `most` lines. */
export function brokenLines(line: string, width: number, most = Number.POSITIVE_INFINITY): string[] {
  if (line.length <= width && ascii.test(line)) return [line];
  const lines: string[] = [];
  let now = "";
  let column = 0;
  let style = "";
  const add = (glyph: string, glyphWidth: number): void => {
    if (column + glyphWidth > width && column > 0) {
      lines.push(style === "" ? now : `${now}${reset}`);
      now = style;
      column = 0;
    }
    now += glyph;
    column += glyphWidth;
  };
  for (const piece of line.split(pieces)) {
    if (piece.startsWith("\u001b")) {
      style = piece === reset || piece === "\u001b[m" ? "" : `${style}${piece}`;
      now += piece;
    } else {
      const isAscii = ascii.test(piece);
      for (const glyph of isAscii ? piece : glyphsOf(piece)) {
        add(glyph, isAscii ? 1 : glyphWidth(glyph));
        if (lines.length >= most) return lines;
      }
    }
  }
  return [...lines, style === "" ? now : `${now}${reset}`].slice(0, most);
}

/** Adds blanks up to a width. */
export function padded(line: string, width: number): string {
  return `${line}${" ".repeat(Math.max(0, width - widthOf(line)))}`;
}
