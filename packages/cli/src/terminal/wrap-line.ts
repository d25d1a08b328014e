// Wraps whole lines of our own between words. Items of a session are wrapped by draw/text-lines.ts.

import { displayWidth } from "./word-wrap.ts";

/** Narrower terminals are not wrapped. */
const fewestColumns = 20;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours have no width
const colours = /\u001b\[[\d;]*m/g;

/** Further lines begin with `indent`. `columns` undefined: no wrapping. A word longer than a line stays whole. */
export function wrapLine(line: string, columns: number | undefined, indent = ""): string {
  if (columns === undefined || columns < fewestColumns || widthOf(line) <= columns) return line;
  const lines: string[] = [];
  let now: string | undefined;
  for (const word of line.split(" ")) {
    const longer: string = now === undefined ? word : `${now} ${word}`;
    if (now === undefined || widthOf(longer) <= columns) now = longer;
    else {
      lines.push(now);
      now = `${indent}${word}`;
    }
  }
  return [...lines, now ?? ""].join("\n");
}

/** Of a question or a list: more than their own lines have, so that a long name cannot look like one. */
export const wrapIndent = " ".repeat(6);

/** Each line of a text. Lines that begin with four blanks are code or data: they stay as they are. */
export function wrapLines(text: string, columns: number | undefined, indent = "  "): string {
  return text
    .split("\n")
    .map((line) => (/^ {4}/.test(line) ? line : wrapLine(line, columns, indent)))
    .join("\n");
}

/** The width of a terminal; undefined for anything else. */
export function columnsOf(stream: NodeJS.WriteStream): number | undefined {
  return stream.isTTY === true ? stream.columns || undefined : undefined;
}

function widthOf(text: string): number {
  return displayWidth(text.replaceAll(colours, ""));
}
