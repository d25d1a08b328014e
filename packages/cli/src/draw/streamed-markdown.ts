// Draws Markdown that arrives in pieces: finished blocks once, and only the rest again.

import { marked, type Token } from "marked";
import type { Paint } from "../terminal/paint.ts";
import { TextSanitiser } from "../terminal/sanitise.ts";
import { markdownLines } from "./markdown-lines.ts";

/** A longer block is finished as it stands, so that a long one is not parsed again and again. */
const longestRest = 8 * 1024;

interface Fence {
  /** The line that opened the code, which ends with a line of the same mark. */
  readonly opening: string;
  readonly mark: string;
}

export class StreamedMarkdown {
  readonly #paint: Paint;
  readonly #safe = new TextSanitiser();
  /** The source that is not finished. */
  #rest = "";
  #fence: Fence | undefined;
  /** Whether the next block stands below another, and whether a blank line is between them. */
  #below: "nothing" | "block" | "part" = "nothing";

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  push(text: string): void {
    this.#rest += this.#safe.push(text);
  }

  /** The lines that will not change any more, since the last call. */
  takeFinished(width: number): string[] {
    const lines: string[] = [];
    while (this.#fence === undefined ? this.#takeBlocks(width, lines) : this.#takeCode(width, lines));
    return lines;
  }

  /** The lines that may still change. */
  rest(width: number): string[] {
    const text = this.#fence === undefined ? this.#rest : `${this.#fence.opening}\n${this.#rest}`;
    if (text.trim() === "" || (this.#fence !== undefined && this.#rest === "")) return [];
    const drawn = markdownLines(this.#fence === undefined ? trimmed(text) : text, width, this.#paint);
    return this.#fence === undefined ? this.#spaced(drawn) : drawn;
  }

  /** No more text comes: the last lines. */
  end(width: number): string[] {
    const finished = this.takeFinished(width);
    const lines = [...finished, ...this.rest(width)];
    this.#rest = "";
    this.#fence = undefined;
    return lines;
  }

  /** Whether there may be more. */
  #takeBlocks(width: number, lines: string[]): boolean {
    const tokens = marked.lexer(this.#rest);
    const last = tokens.findLastIndex(({ type }) => type !== "space");
    const open = tokens[last];
    if (open === undefined) return false;
    const finished = rawOf(tokens.slice(0, last));
    if (finished.trim() !== "") this.#finish(finished, width, lines, "block");
    else if (finished !== "") this.#rest = this.#rest.slice(finished.length);
    const fence = openFence(open);
    if (fence !== undefined) return this.#open(fence, lines);
    if (open.type === "list") this.#takeItems(open as ListToken, width, lines);
    if (this.#rest.length > longestRest) this.#takeLong(width, lines);
    return false;
  }

  /** All items but the last. */
  #takeItems({ items }: ListToken, width: number, lines: string[]): void {
    const finished = rawOf(items.slice(0, -1));
    if (finished !== "") this.#finish(finished, width, lines, "part");
  }

  #takeLong(width: number, lines: string[]): void {
    const blank = Math.max(this.#rest.lastIndexOf("\n"), this.#rest.lastIndexOf(" "));
    const end = blank > 0 ? blank : longestRest;
    this.#finish(this.#rest.slice(0, end + 1), width, lines, "part");
  }

  #open({ opening, mark }: Fence, lines: string[]): boolean {
    const end = this.#rest.indexOf("\n");
    // the language may not be whole
    if (end < 0) return false;
    if (this.#below === "block") lines.push("");
    this.#below = "block";
    this.#rest = this.#rest.slice(end + 1);
    this.#fence = { opening, mark };
    return true;
  }

  #takeCode(width: number, lines: string[]): boolean {
    const { opening, mark } = this.#fence ?? { opening: "", mark: "" };
    const end = this.#rest.lastIndexOf("\n") + 1;
    const whole = this.#rest.slice(0, end).split("\n").slice(0, -1);
    const closing = whole.findIndex((line) => isClosing(line, mark));
    const code = closing < 0 ? whole : whole.slice(0, closing);
    if (code.length > 0) {
      lines.push(...markdownLines([opening, ...code, mark].join("\n"), width, this.#paint));
    }
    if (closing < 0) {
      this.#rest = this.#rest.slice(end);
      return false;
    }
    this.#rest = this.#rest.slice(whole.slice(0, closing + 1).join("\n").length + 1);
    this.#fence = undefined;
    return true;
  }

  #finish(source: string, width: number, lines: string[], how: "block" | "part"): void {
    lines.push(...this.#spaced(markdownLines(trimmed(source), width, this.#paint)));
    this.#below = how;
    this.#rest = this.#rest.slice(source.length);
  }

  #spaced(drawn: string[]): string[] {
    return this.#below === "block" && drawn.length > 0 ? ["", ...drawn] : drawn;
  }
}

/** Blank lines between blocks are ours to draw. */
function trimmed(source: string): string {
  return source.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

type ListToken = Token & { readonly items: readonly { readonly raw: string }[] };

function rawOf(tokens: readonly { readonly raw: string }[]): string {
  return tokens.map(({ raw }) => raw).join("");
}

/** The fence of code that has not been closed. */
function openFence({ type, raw }: Token): Fence | undefined {
  if (type !== "code") return undefined;
  const [opening = "", mark = ""] = /^ {0,3}(`{3,}|~{3,})[^\n]*/.exec(raw) ?? [];
  if (mark === "") return undefined;
  const isClosed = raw
    .trimEnd()
    .split("\n")
    .slice(1)
    .some((line) => isClosing(line, mark));
  return isClosed ? undefined : { opening, mark };
}

function isClosing(line: string, mark: string): boolean {
  const text = line.trim();
  return text.length >= mark.length && text === mark.charAt(0).repeat(text.length) && /^ {0,3}\S/.test(line);
}
