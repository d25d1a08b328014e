// Keeps the events of one stream by number, so that a reader that was cut off gets what it missed. What was given to a reader is
// kept in long texts: the garbage collector would copy thousands of short ones again and again. Bytes outside of its heap
// would make it run more often.

/** A piece that was given, of consecutive events. */
interface Piece {
  /** The number of its first event. */
  readonly first: number;
  readonly text: string;
  /** The characters of the data of each event. */
  readonly sizes: readonly number[];
}

/** What a reader is given next. */
export interface Given {
  readonly bytes: Uint8Array;
  /** The number of the last event in it. */
  readonly last: number;
  /** The characters of the data of its events. */
  readonly chars: number;
}

const encoder = new TextEncoder();

/** The events have the numbers 1, 2, 3 and so on. The oldest are forgotten first. */
export class EventRing {
  /** The number of the newest event; 0 if there was none. */
  last = 0;
  /** The number of the newest event that is not kept any more. */
  forgotten = 0;
  /** Before the number of each event. It tells the ids of one stream from those of another. */
  readonly #idHead: string;
  #pieces: Piece[] = [];
  #headPiece = 0;
  /** The data of the events that no reader was given, which are the newest. */
  #texts: string[] = [];
  #headText = 0;

  constructor(idHead: string) {
    this.#idHead = idHead;
  }

  push(data: string): void {
    this.#texts.push(data);
    this.last++;
  }

  /** Whether everything behind this number is kept. */
  hasAllAfter(number: number): boolean {
    return number >= this.forgotten && number <= this.last;
  }

  /** The characters of the events behind this one. */
  charsAfter(number: number): number {
    let chars = 0;
    for (let n = Math.max(number, this.forgotten) + 1; n <= this.last; n++) chars += this.#charsOf(n);
    return chars;
  }

  /** The next events behind this one, of about so many characters. Undefined if the first of them is forgotten. */
  after(number: number, maxChars: number): Given | undefined {
    if (number < this.forgotten) return undefined;
    while (number > this.#lastGiven) this.#encode(number - this.#lastGiven, maxChars);
    const piece = this.#pieceOf(number + 1) ?? this.#encode(this.last, maxChars);
    const skipped = number + 1 - piece.first;
    if (skipped === 0) return given(piece, piece.text, piece.sizes);
    return given(piece, this.#textFrom(piece, number + 1), piece.sizes.slice(skipped));
  }

  /** Forgets the oldest event. Returns how many characters it had. */
  forget(): number {
    if (this.forgotten >= this.last) return 0;
    const number = this.forgotten + 1;
    const chars = this.#charsOf(number);
    this.forgotten = number;
    const oldest = this.#pieces[this.#headPiece];
    if (oldest === undefined) this.#dropText();
    else if (lastOf(oldest) === number) this.#headPiece++;
    // removing the head of a long array each time would cost its length
    if (this.#headPiece > 64 && this.#headPiece * 2 > this.#pieces.length) {
      this.#pieces = this.#pieces.slice(this.#headPiece);
      this.#headPiece = 0;
    }
    return chars;
  }

  /** The number of the newest event that is kept as bytes. */
  get #lastGiven(): number {
    return this.last - (this.#texts.length - this.#headText);
  }

  #charsOf(number: number): number {
    const inTexts = number - this.#lastGiven;
    if (inTexts > 0) return this.#texts[this.#headText + inTexts - 1]?.length ?? 0;
    const piece = this.#pieceOf(number);
    return piece?.sizes[number - piece.first] ?? 0;
  }

  /** Nearly always the oldest or the newest. */
  #pieceOf(number: number): Piece | undefined {
    const oldest = this.#pieces[this.#headPiece];
    if (oldest !== undefined && number >= oldest.first && number <= lastOf(oldest)) return oldest;
    for (let at = this.#pieces.length - 1; at >= this.#headPiece; at--) {
      const piece = this.#pieces[at];
      if (piece === undefined || number > lastOf(piece)) return undefined;
      if (number >= piece.first) return piece;
    }
    return undefined;
  }

  /** Makes a piece of the next texts, at most so many. */
  #encode(maxEvents: number, maxChars: number): Piece {
    const first = this.#lastGiven + 1;
    const sizes: number[] = [];
    let text = "";
    while (sizes.length < maxEvents && text.length < maxChars && this.#headText < this.#texts.length) {
      const data = this.#texts[this.#headText] ?? "";
      text += `${this.#idHead}${first + sizes.length}\ndata: ${data}\n\n`;
      sizes.push(data.length);
      this.#dropText();
    }
    const piece = { first, text, sizes };
    this.#pieces.push(piece);
    return piece;
  }

  #dropText(): void {
    this.#texts[this.#headText++] = "";
    if (this.#headText < this.#texts.length) {
      if (this.#headText <= 1_024 || this.#headText * 2 <= this.#texts.length) return;
      this.#texts = this.#texts.slice(this.#headText);
    } else this.#texts = [];
    this.#headText = 0;
  }

  /** A reader that was cut off may go on in the middle of a piece. An empty line ends an event, and none is inside one. */
  #textFrom({ text }: Piece, number: number): string {
    return text.slice(text.indexOf(`\n\n${this.#idHead}${number}\n`) + 2);
  }
}

function lastOf({ first, sizes }: Piece): number {
  return first + sizes.length - 1;
}

function given(piece: Piece, text: string, sizes: readonly number[]): Given {
  return {
    bytes: encoder.encode(text),
    last: lastOf(piece),
    chars: sizes.reduce((sum, each) => sum + each, 0),
  };
}
