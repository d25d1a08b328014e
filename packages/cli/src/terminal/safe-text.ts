// What an agent says, made safe for a terminal: no escape sequences, no control characters, nothing that turns text
// around or hides in it. Sequences may be cut anywhere between two pieces, so this remembers where it is.

import { byNumber, hiddenMarks } from "./printable.ts";

/** A line feed and a tab are what text is made of. */
const suspicious = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f${hiddenMarks}]`);
const allSuspicious = new RegExp(suspicious, "g");
const hidden = new RegExp(`[${hiddenMarks}]`);
/** A sequence that does not end is text after all; nobody may hide the rest of an answer behind one. */
const longestSequence = 4096;

type Place = "text" | "escape" | "control" | "string";

export class SafeText {
  #place: Place = "text";
  #length = 0;
  #wasReturn = false;

  /** The part of `text` that may be shown. Lines end with a line feed alone. */
  push(text: string): string {
    if (this.#place === "text" && !this.#wasReturn && !suspicious.test(text)) return text;
    let safe = "";
    for (const character of text) safe += this.#next(character);
    return safe;
  }

  #next(character: string): string {
    if (this.#place === "text") return this.#plain(character);
    this.#length++;
    if (this.#length > longestSequence) {
      this.#place = "text";
      return "";
    }
    if (this.#place === "escape") this.#afterEscape(character);
    // a final byte ends a control sequence; a bell or an escape ends a string
    else if (this.#place === "control") this.#place = /[@-~]/.test(character) ? "text" : "control";
    else if (character === "\u0007" || character === "\u009c") this.#place = "text";
    else if (character === "\u001b") this.#place = "escape";
    return "";
  }

  #afterEscape(character: string): void {
    if (character === "[") this.#place = "control";
    else if (/[PX\]^_]/.test(character)) this.#place = "string";
    else if (/[ -/]/.test(character)) this.#place = "escape";
    else this.#place = "text";
  }

  #plain(character: string): string {
    const wasReturn = this.#wasReturn;
    this.#wasReturn = character === "\r";
    if (character === "\n" || character === "\t") return character;
    // a return without a line feed would overwrite what was shown
    const line = wasReturn ? "\n" : "";
    if (character === "\r") return line;
    if (character === "\u001b") this.#enter("escape");
    else if (character === "\u009b") this.#enter("control");
    else if (/[\u0090\u0098\u009d\u009e\u009f]/.test(character)) this.#enter("string");
    else if (hidden.test(character)) return `${line}${byNumber(character)}`;
    else if (!suspicious.test(character)) return `${line}${character}`;
    return line;
  }

  #enter(place: Place): void {
    this.#place = place;
    this.#length = 0;
  }
}

/** The same for a text that is whole. */
export function safeText(text: string): string {
  return new SafeText().push(text);
}

/** For what will be in a file: nothing is left out, since a sequence may hold whole lines that somebody runs. */
export function safeSource(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(allSuspicious, byNumber);
}

/** And for one that must stay on its line. */
export function safeLine(text: string): string {
  return safeText(text)
    .replaceAll(/[\n\t]+/g, " ")
    .trim();
}

/** What we say in the words of others: their further lines are set in, so that none looks like one of ours. */
export function saidLines(text: string): string {
  return `parley: ${safeText(text)
    .trimEnd()
    .replaceAll(/\n(?=\S)/g, "\n  ")}\n`;
}
