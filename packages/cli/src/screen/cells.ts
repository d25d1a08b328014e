// Lines by the columns that they take: cut, filled and folded. Colours have no width.

import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

export { fuzzyFilter } from "@earendil-works/pi-tui";

const reset = "\u001b[0m";
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const pieces = /\u001b\[[\d;]*m|[^\u001b]+|\u001b/g;
const plain = /^[\x20-\x7e]*$/;

export function cellWidth(line: string): number {
  return plain.test(line) ? line.length : visibleWidth(line);
}

/** The beginning of a line that is too wide, with an ellipsis. */
export function cutLine(line: string, columns: number): string {
  if (cellWidth(line) <= columns) return line;
  const cut = truncateToWidth(line, columns, "…");
  // without colours there is nothing to reset
  return line.includes("\u001b") ? cut : cut.replaceAll(reset, "");
}

/** The line with blanks up to `columns`, or its beginning. */
export function filledLine(line: string, columns: number): string {
  const cut = cutLine(line, columns);
  return `${cut}${" ".repeat(Math.max(0, columns - cellWidth(cut)))}`;
}

/** All of a line in rows of at most `columns`, wherever they end. Further rows begin with `indent`, and keep the colour. */
export function foldedLine(line: string, columns: number, indent = ""): string[] {
  if (cellWidth(line) <= columns) return [line];
  const rows: string[] = [];
  let style = "";
  let row = "";
  let used = 0;
  for (const [piece] of line.matchAll(pieces)) {
    if (piece.startsWith("\u001b")) {
      style = piece === reset ? "" : `${style}${piece}`;
      row += piece;
      continue;
    }
    for (const { text, width } of glyphs(piece)) {
      if (used + width > columns && used > indent.length) {
        rows.push(style === "" ? row : `${row}${reset}`);
        row = `${indent}${style}`;
        used = indent.length;
      }
      row += text;
      used += width;
    }
  }
  return [...rows, row];
}

let segmenter: Intl.Segmenter | undefined;

function* glyphs(text: string): Generator<{ readonly text: string; readonly width: number }> {
  if (plain.test(text)) {
    for (const letter of text) yield { text: letter, width: 1 };
    return;
  }
  // made on use, because it takes 8 ms
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield { text: segment, width: visibleWidth(segment) };
}
