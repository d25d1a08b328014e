// Sanitises text of peers for terminals: `safe…` removes escape sequences and control characters, `escaped…` shows
// them by their code point. Both mark characters that reorder or hide text.

import { wrapLine } from "./wrap-line.ts";

/**
 * Characters that reorder text, end lines, have no width or look like a space. They are those that questions show by number,
 * but joiners stay: scripts and emoji need them.
 */
const hiddenMarks =
  "[[\\p{Cf}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u3164\\uffa0]--[\\u200c\\u200d]]";

const hidden = new RegExp(hiddenMarks, "v");
/** Everything but text, line feeds and tabs. */
const unsafe = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f${hiddenMarks}]`, "v");
const allUnsafe = new RegExp(unsafe, "gv");
const allUnsafeInLine = new RegExp(`[\\u0000-\\u001f\\u007f-\\u009f${hiddenMarks}]`, "gv");
/** JSON.stringify escapes the other control characters itself. */
const unsafeInJson = new RegExp(`[\\u007f-\\u009f${hiddenMarks}]`, "v");
const allUnsafeInJson = new RegExp(unsafeInJson, "gv");
/** A longer sequence is treated as text, so that an unfinished one cannot hide the rest of an answer. */
const longestSequence = 4096;

/** One line with everything visible; line ends are escaped too. */
export function escapedLine(text: string): string {
  return text.replace(allUnsafeInLine, codePoint);
}

/** Lines with everything visible: in source code a sequence may hide whole lines that somebody runs. */
export function escapedSource(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(allUnsafe, codePoint);
}

/** JSON without a line end that is safe to print; it parses to the same value. */
export function escapedJson(value: unknown): string {
  const text = JSON.stringify(value);
  return unsafeInJson.test(text) ? text.replaceAll(allUnsafeInJson, codeUnits) : text;
}

/** Lines without sequences and control characters. */
export function safeText(text: string): string {
  return new TextSanitiser().push(text);
}

/** The same on one line. */
export function safeLine(text: string): string {
  return safeText(text)
    .replaceAll(/[\n\t]+/g, " ")
    .trim();
}

/** A message of ours. Further lines may be quoted from others: they are indented, so that none looks like ours. */
export function messageLines(text: string, columns?: number): string {
  const lines = `parley: ${safeText(text)
    .trimEnd()
    .replaceAll(/\n(?=\S)/g, "\n  ")}`.split("\n");
  return `${lines.map((line) => wrapLine(line, columns, "  ")).join("\n")}\n`;
}

function codePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : codeUnits(character);
}

/** As JSON has it. */
function codeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

type State = "text" | "escape" | "control" | "string";

/** `safeText` for text that comes in pieces: a sequence may be cut anywhere. */
export class TextSanitiser {
  #state: State = "text";
  #length = 0;
  #wasReturn = false;

  /** The part of `text` that may be shown. Lines end with a line feed alone. */
  push(text: string): string {
    if (this.#state === "text" && !this.#wasReturn && !unsafe.test(text)) return text;
    let safe = "";
    for (const character of text) safe += this.#next(character);
    return safe;
  }

  #next(character: string): string {
    if (this.#state === "text") return this.#plain(character);
    this.#length++;
    if (this.#length > longestSequence) this.#state = "text";
    else if (this.#state === "escape") this.#afterEscape(character);
    // a final byte ends a control sequence; a bell or an escape ends a string
    else if (this.#state === "control") this.#state = /[@-~]/.test(character) ? "text" : "control";
    else if (character === "\u0007" || character === "\u009c") this.#state = "text";
    else if (character === "\u001b") this.#state = "escape";
    return "";
  }

  #afterEscape(character: string): void {
    if (character === "[") this.#state = "control";
    else if (/[PX\]^_]/.test(character)) this.#state = "string";
    else if (!/[ -/]/.test(character)) this.#state = "text";
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
    else if (hidden.test(character)) return `${line}${codePoint(character)}`;
    else if (!unsafe.test(character)) return `${line}${character}`;
    return line;
  }

  #enter(state: State): void {
    this.#state = state;
    this.#length = 0;
  }
}
