// Ends lines between words, at the edge of a terminal, while the text still comes: nothing is held back but the word
// that is being written. Code between fences stays as it is, and so does a word that is longer than a line.

import { breakableParts, displayWidth } from "./display-width.ts";

/** Narrower terminals are not worth it. */
const fewestColumns = 20;
const tabStop = 8;
/** As much of a line as a fence takes. */
const longestFence = 200;

export class WordWrap {
  readonly #columns: () => number | undefined;
  /** Where the next character is shown. */
  #column = 0;
  /** What stands before the word, if it stays on this line. */
  #blanks = "";
  #word = "";
  /** The beginning of the word has been shown. */
  #isBegun = false;
  /** How the line began. */
  #line = "";
  /** What the code that is under way began with. */
  #fence: string | undefined;

  /** Asked each time, since windows change. Undefined: the text stays as it is. */
  constructor(columns: () => number | undefined) {
    this.#columns = columns;
  }

  /** What may be shown by now. */
  push(text: string): string {
    const columns = this.#columns();
    if (columns === undefined || columns < fewestColumns) return this.#place(fewestColumns) + text;
    let shown = "";
    for (const piece of text.split(/(\n|[ \t]+)/)) {
      if (piece === "\n") shown += this.#endLine(columns);
      else if (this.#fence !== undefined) {
        shown += piece;
        this.#note(piece);
      } else if (/^[ \t]/.test(piece)) {
        shown += this.#place(columns);
        this.#isBegun = false;
        this.#blanks += piece;
        this.#note(piece);
      } else shown += this.#more(piece, columns);
    }
    return shown;
  }

  /** The rest of what came; what follows begins a line of its own. */
  end(): string {
    const shown = this.#place(this.#columns() ?? fewestColumns);
    this.#startLine();
    return shown;
  }

  /** Part of a word. What a line may end behind, and what fills a line by itself, is not held back. */
  #more(piece: string, columns: number): string {
    this.#word += piece;
    const parts = breakableParts(this.#word);
    const last = parts.pop() ?? "";
    this.#word = parts.join("");
    const shown = this.#place(columns);
    if (parts.length > 0) this.#isBegun = false;
    this.#word = last;
    if (!this.#isBegun && displayWidth(last) <= columns) return shown;
    const all = shown + this.#place(columns);
    this.#isBegun = true;
    return all;
  }

  /** Puts the word on this line or on the next. */
  #place(columns: number): string {
    if (this.#word === "") return "";
    let shown = "";
    for (const part of breakableParts(this.#word)) {
      const width = displayWidth(part);
      const end = this.#column + this.#blanksWidth() + width;
      const fits = end <= columns || this.#column === 0 || this.#isBegun || width > columns;
      shown += fits ? `${this.#blanks}${part}` : `\n${part}`;
      this.#column = fits ? columnAfter(end, columns) : width;
      this.#blanks = "";
      this.#isBegun = false;
    }
    this.#note(this.#word);
    this.#word = "";
    return shown;
  }

  #endLine(columns: number): string {
    const shown = this.#place(columns);
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(this.#line) ?? [];
    if (this.#fence === undefined) this.#fence = mark;
    else if (mark?.startsWith(this.#fence) && this.#line.trim() === mark) this.#fence = undefined;
    this.#startLine();
    return `${shown}\n`;
  }

  #startLine(): void {
    this.#column = 0;
    this.#blanks = "";
    this.#line = "";
    this.#isBegun = false;
  }

  #note(piece: string): void {
    if (this.#line.length < longestFence) this.#line += piece.slice(0, longestFence);
  }

  #blanksWidth(): number {
    let at = this.#column;
    for (const blank of this.#blanks) at = blank === "\t" ? at - (at % tabStop) + tabStop : at + 1;
    return at - this.#column;
  }
}

/** A terminal goes on in the next line with what is too long for one. */
function columnAfter(end: number, columns: number): number {
  return end <= columns ? end : end % columns || columns;
}
