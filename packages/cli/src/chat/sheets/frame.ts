// What all sheets look like: a bar on the left, content that scrolls, and lines below it that are always there.

import { brokenLines, clipped, widthOf } from "../../draw/text-lines.ts";
import { listedAnswers, packedAnswers, type ShownAnswer } from "../../questions/answer-rows.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import type { LineField } from "../../screen/line-field.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { wrapIndent, wrapLine } from "../../terminal/wrap-line.ts";
import type { SheetSize } from "./sheet.ts";

/** Left of everything in a sheet: nothing that an agent sends can begin a line like it. */
const bar = "│ ";

/** The lines that stay, below the content. */
export interface Foot {
  readonly lines: readonly string[];
  /** The keys that answer, with what they mean. */
  readonly answers?: readonly (string | ShownAnswer)[];
  /** Where the user types, as the last line. */
  readonly field?: { readonly label: string; readonly input: LineField; readonly isHidden?: boolean };
}

/** Content of a sheet that may be longer than there is room. */
export class Scrolled {
  #top = 0;
  #page = 1;
  #isAtEnd = false;

  /** Whether the key scrolls. */
  key({ id }: KeyPress): boolean {
    const by = this.#steps()[id];
    if (by === undefined) return false;
    this.#isAtEnd = false;
    this.#top += by;
    return true;
  }

  /** Shows the end, when it is drawn next. */
  toEnd(): void {
    this.#isAtEnd = true;
  }

  toTop(): void {
    this.#top = 0;
  }

  /** Shows at least these rows, when it is drawn next. */
  reveal(first: number, last: number): void {
    if (last >= this.#top + this.#page) this.#top = last - this.#page + 1;
    if (first < this.#top) this.#top = first;
  }

  #steps(): Readonly<Record<string, number>> {
    return { up: -1, down: 1, wheelUp: -3, wheelDown: 3, pageUp: -this.#page, pageDown: this.#page };
  }

  /** At most `rows` lines. If there are more, the last one says so. */
  draw(lines: readonly string[], rows: number, columns: number, paint: Paint): string[] {
    if (rows <= 0) return [];
    const hasAll = lines.length <= rows;
    this.#page = hasAll ? rows : Math.max(1, rows - 1);
    const last = Math.max(0, lines.length - this.#page);
    this.#top = this.#isAtEnd ? last : Math.min(last, Math.max(0, this.#top));
    if (hasAll) return [...lines];
    const shown = lines.slice(this.#top, this.#top + this.#page);
    const range = `lines ${this.#top + 1}-${this.#top + shown.length} of ${lines.length}`;
    if (rows > 1) return [...shown, paint("warning", clipped(`── ${range}: PgUp and PgDn ──`, columns))];
    const [only = ""] = brokenLines(shown[0] ?? "", Math.max(1, columns - range.length - 1), 1);
    return [`${only} ${paint("warning", range)}`];
  }
}

/** A line of text between words; a line that begins with four blanks, which is code or data, wherever it ends. */
export function sheetRows(line: string, columns: number): string[] {
  // an agent may send very many lines, or a very long one
  if (line.length <= columns && ascii.test(line)) return [line];
  const shown = line.replaceAll("\t", "    ").replaceAll(heaps, numberedMarks);
  const indent = wrapIndent.length * 2 < columns ? wrapIndent : "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: code may be painted
  if (/^(?:\u001b\[[\d;]*m)* {4}/.test(shown)) return foldedRows(shown, columns, indent);
  return keepColours(wrapLine(shown, columns, indent).split("\n")).flatMap((row) =>
    foldedRows(row, columns, indent),
  );
}

/** All of a line. Further rows begin with `indent`. */
function foldedRows(line: string, columns: number, indent: string): string[] {
  if (widthOf(line) <= columns) return [line];
  const width = columns - indent.length;
  const rows = ascii.test(line) ? slices(line, width) : brokenLines(line, width);
  return rows.map((row, at) => (at === 0 ? row : `${indent}${row}`));
}

const ascii = /^[\x20-\x7e]*$/;

function slices(line: string, width: number): string[] {
  return Array.from({ length: Math.ceil(line.length / width) }, (_, at) =>
    line.slice(at * width, (at + 1) * width),
  );
}

/** More marks on one character would be drawn over other lines. */
const heaps = /(\p{M}{8})(\p{M}+)/gu;

function numberedMarks(_: string, shown: string, marks: string): string {
  return `${shown}${Array.from(marks, (mark) => `\\u{${mark.codePointAt(0)?.toString(16)}}`).join("")}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const colours = /\u001b\[[\d;]*m/g;
const reset = "\u001b[0m";

/** Each row ends its colours, and the next one goes on with them. */
function keepColours(rows: readonly string[]): string[] {
  let style = "";
  return rows.map((row) => {
    const begun = `${style}${row}`;
    for (const [colour] of row.matchAll(colours)) style = colour === reset ? "" : `${style}${colour}`;
    return style === "" ? begun : `${begun}${reset}`;
  });
}

/** The columns inside of a sheet. */
export function innerColumns({ columns }: SheetSize): number {
  return Math.max(1, columns - bar.length);
}

/** Puts the bar to the left of each line. In a window that is far too small, what does not fit is left out. */
export function barred(
  size: SheetSize,
  lines: readonly string[],
  paint: Paint,
  cursor?: Tail["cursor"],
): Tail {
  const columns = innerColumns(size);
  const hidden = Math.max(0, lines.length - size.rows);
  const shown = lines.slice(hidden).map((line) => {
    const [fitting = ""] = widthOf(line) <= columns ? [line] : brokenLines(line, columns, 1);
    const first = fitting.replaceAll(heaps, "$1");
    return `${paint("accent", bar.trimEnd())}${first === "" ? "" : ` ${first}`}`;
  });
  if (cursor === undefined) return { lines: shown };
  const column = Math.min(size.columns - 1, bar.length + cursor.column);
  return { lines: shown, cursor: { row: Math.max(0, cursor.row - hidden), column } };
}

/** So much of the content is seen beside answers that have a row each. */
const leastContent = 8;

/** In a row each if there is room, else in as few rows as possible. */
function answerRows(
  answers: readonly (string | ShownAnswer)[],
  columns: number,
  most: number,
  paint: Paint,
): string[] {
  const shown = answers.map((answer) => (typeof answer === "string" ? answerOf(answer) : answer));
  const listed = listedAnswers(shown, columns, paint);
  return listed.length <= most ? listed : packedAnswers(shown, columns, paint);
}

/** `y yes`: the key and what it does. Words without a key have none in colour. */
function answerOf(text: string): ShownAnswer {
  const [, keys = "", rest = text] = /^([^a-z\s]\S*|[a-z](?:\/\S+)?) (.*)$/.exec(text) ?? [];
  return { keys, text: rest };
}

export interface Framed {
  readonly paint: Paint;
  /** Rows that stay, above the content. */
  readonly head?: readonly string[];
  /** The rows that scroll. */
  readonly content: readonly string[];
  readonly scrolled: Scrolled;
  readonly foot: Foot;
  /** Whether all rows are taken, as on a whole screen. */
  readonly isFull?: boolean;
}

/** The head, the content that fits, and all of the foot. */
export function framed(size: SheetSize, { paint, head = [], content, scrolled, foot, isFull }: Framed): Tail {
  const columns = innerColumns(size);
  const { lines, answers = [], field } = foot;
  const said = lines.flatMap((line) => sheetRows(line, columns));
  const most = size.rows - head.length - said.length - Math.min(leastContent, content.length);
  const wanted = [...said, ...answerRows(answers, columns, most, paint)];
  const fieldRows = field === undefined ? 0 : 1;
  // the last rows of a foot are the answers
  const below = wanted.slice(-Math.max(1, size.rows - fieldRows));
  const room = size.rows - below.length - fieldRows;
  const shown = [...head, ...scrolled.draw(content, room - head.length, columns, paint)].slice(0, room);
  const blank = isFull ? Array.from({ length: room - shown.length }, () => "") : [];
  const above = [...shown, ...blank, ...below];
  if (field === undefined) return barred(size, above, paint);
  const label = clipped(field.label, Math.max(1, columns - 10));
  const drawn = field.input.draw(Math.max(1, columns - widthOf(label)), field.isHidden);
  const cursor = { row: above.length, column: widthOf(label) + drawn.column };
  return barred(size, [...above, `${label}${drawn.line}`], paint, cursor);
}
