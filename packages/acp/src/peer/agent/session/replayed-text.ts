// A message of plain text that is shown again, as JSON: its pieces are joined without being parsed.

import { endOfPlainText, type PlainTextPlace, wholeTextHead } from "../../../log/plain-text.ts";

export class ReplayedText {
  /** The JSON of its first piece. */
  readonly #first: string;
  readonly #place: PlainTextPlace;
  readonly #isWhole: boolean;
  /** The JSON of each piece up to its text. */
  readonly #head: string;
  /** The text of the further pieces, without quotes. */
  #rest = "";

  /** `isWhole`: it is sent as a whole message, not as a piece. */
  constructor(first: string, place: PlainTextPlace, isWhole: boolean) {
    this.#first = first;
    this.#place = place;
    this.#isWhole = isWhole;
    this.#head = first.slice(0, place.start);
  }

  /** Whether this JSON is a further piece of the message. */
  hasPiece(json: string): boolean {
    return json.startsWith(this.#head);
  }

  /** Adds a further piece. Returns false, and does nothing, if the message could then take more bytes than `max`. */
  add(json: string, max: number): boolean {
    // a UTF-16 unit takes at most three bytes
    if ((this.#first.length + this.#rest.length + json.length) * 3 > max) return false;
    this.#rest += json.slice(this.#head.length + 1, -endOfPlainText.length);
    return true;
  }

  /** The JSON of the update to send. */
  get json(): string {
    const [first, rest, end] = [this.#first, this.#rest, endOfPlainText];
    if (this.#isWhole)
      return `${wholeTextHead(first, this.#place)}${first.slice(this.#place.start, -end.length)}${rest}"}]}`;
    return rest === "" ? first : `${first.slice(0, -end.length)}${rest}${end}`;
  }
}
