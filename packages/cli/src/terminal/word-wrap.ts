// Wraps streamed text at the width of a terminal. Holds back only the unfinished word; fenced code is not wrapped.

/** Narrower terminals are not wrapped. */
const fewestColumns = 20;
const tabStop = 8;
/** How much of a line is kept to recognise a fence. */
const longestFence = 200;

export class WordWrap {
  readonly #columns: () => number | undefined;
  /** The column of the next character. */
  #column = 0;
  /** The blanks before the word, dropped if it moves to the next line. */
  #blanks = "";
  #word = "";
  /** The beginning of the word was printed. */
  #isBegun = false;
  /** The beginning of the line. */
  #line = "";
  /** The fence of the current code block. */
  #fence: string | undefined;

  /** `columns` is called each time, since windows change. Undefined: no wrapping. */
  constructor(columns: () => number | undefined) {
    this.#columns = columns;
  }

  /** Returns the text that can be printed now. */
  push(text: string): string {
    const columns = this.#columns();
    if (columns === undefined || columns < fewestColumns) return this.#putWord(fewestColumns) + text;
    let shown = "";
    for (const piece of text.split(/(\n|[ \t]+)/)) {
      if (piece === "\n") shown += this.#endLine(columns);
      else if (this.#fence !== undefined) {
        shown += piece;
        this.#note(piece);
      } else if (/^[ \t]/.test(piece)) {
        shown += this.#putWord(columns);
        this.#isBegun = false;
        this.#blanks += piece;
        this.#note(piece);
      } else shown += this.#more(piece, columns);
    }
    return shown;
  }

  /** Returns the held-back rest; the next text begins a new line. */
  end(): string {
    const shown = this.#putWord(this.#columns() ?? fewestColumns);
    this.#startLine();
    return shown;
  }

  /** Part of a word. Text before a possible break, or as long as a line, is not held back. */
  #more(piece: string, columns: number): string {
    this.#word += piece;
    const parts = breakableParts(this.#word);
    const last = parts.pop() ?? "";
    this.#word = parts.join("");
    const shown = this.#putWord(columns);
    if (parts.length > 0) this.#isBegun = false;
    this.#word = last;
    if (!this.#isBegun && displayWidth(last) <= columns) return shown;
    const all = shown + this.#putWord(columns);
    this.#isBegun = true;
    return all;
  }

  /** Puts the word on this line or on the next. */
  #putWord(columns: number): string {
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
    const shown = this.#putWord(columns);
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

/** A terminal continues overlong text on the next line. */
function columnAfter(end: number, columns: number): number {
  return end <= columns ? end : end % columns || columns;
}

let segmenter: Intl.Segmenter | undefined;

/** The characters as they are seen. */
export function graphemes(text: string): Intl.Segments {
  // made on use, because it takes 8 ms
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

const plain = /^[\x20-\x7e]*$/;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;
/** Closing punctuation does not begin a line. */
const closing = /^[\p{Pe}\p{Pf}\u3001\u3002\u3005\u30fb\u30fc\uff01\uff0c\uff0e\uff1a\uff1b\uff1f]/u;
const unseen = /^[\p{M}\p{Cf}]*$/u;

export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += glyphWidth(segment);
  return width;
}

/** A line may break between wide characters: Chinese and Japanese have no spaces. */
export function breakableParts(word: string): string[] {
  if (plain.test(word)) return [word];
  const parts: string[] = [];
  let mayBreak = false;
  for (const { segment } of graphemes(word)) {
    const isWide = glyphWidth(segment) === 2;
    const begins = parts.length === 0 || ((isWide || mayBreak) && !closing.test(segment));
    if (begins) parts.push(segment);
    else parts.push(`${parts.pop()}${segment}`);
    mayBreak = isWide;
  }
  return parts;
}

/** Of one character as it is seen. */
export function glyphWidth(glyph: string): number {
  if (wide.test(glyph)) return 2;
  return unseen.test(glyph) ? 0 : 1;
}
