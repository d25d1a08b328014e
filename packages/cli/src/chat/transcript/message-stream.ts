// Draws one message of the agent while it grows: what cannot change any more once, and the rest again.

import type { ContentBlock } from "@parley/acp";
import type { MessageItem } from "@parley/acp/view";
import { indented, messageIndent, plainLines } from "../../draw/message-lines.ts";
import { placeholder } from "../../draw/placeholders.ts";
import { StreamedMarkdown } from "../../draw/streamed-markdown.ts";
import { wrappedWords } from "../../draw/text-lines.ts";
import type { Paint } from "../../terminal/paint.ts";
import { shortLines } from "./message-parts.ts";

/** How far a message was read. */
export interface ReadPosition {
  /** The blocks that were read. The view replaces the list when the agent replaces the message. */
  readonly content: readonly ContentBlock[];
  readonly block: number;
  /** Within the text of the block. */
  readonly offset: number;
  readonly attachments: number;
}

/** How much time there is. */
export interface ReadingTime {
  /** Text that may be drawn as Markdown. A flood of text is drawn as words, which is many times faster. */
  characters: number;
  /** In milliseconds, of a clock that never goes back. */
  now: number;
}

/** Reading a text that has grown copies all of it: megabytes are read less often. */
const charactersPerMs = 500_000;

export class MessageStream {
  readonly item: MessageItem;
  readonly #paint: Paint;
  #markdown: StreamedMarkdown;
  #position: ReadPosition;
  #version = -1;
  #nextReading = 0;
  #hasPrinted: boolean;
  /** Whether nothing was read since it was printed. */
  #isLate: boolean;
  /** The rest as drawn last, for a width. */
  #rest: { readonly width: number; readonly lines: readonly string[] } | undefined;

  /** @param from - What was printed before. Default: nothing. */
  constructor(item: MessageItem, paint: Paint, from?: ReadPosition) {
    this.item = item;
    this.#paint = paint;
    this.#markdown = new StreamedMarkdown(paint);
    this.#position = from ?? startOf(item.content);
    this.#hasPrinted = from !== undefined;
    this.#isLate = from !== undefined;
  }

  get position(): ReadPosition {
    return this.#position;
  }

  /** The lines that will not change any more, since the last call. */
  take(width: number, time: ReadingTime): string[] {
    return this.item.version === this.#version || time.now < this.#nextReading
      ? []
      : this.#taken(width, time);
  }

  #taken(width: number, time: ReadingTime): string[] {
    this.#version = this.item.version;
    this.#rest = undefined;
    const lines: string[] = [];
    if (this.item.content !== this.#position.content) this.#replaced(width, lines);
    this.#read(roomOf(width), time, lines);
    this.#nextReading = time.now + Math.floor(this.#position.offset / charactersPerMs);
    if (lines.length > 0) this.#hasPrinted = true;
    return indented(lines);
  }

  /** The lines that may still change. */
  rest(width: number): readonly string[] {
    if (this.#rest?.width !== width)
      this.#rest = { width, lines: indented(this.#markdown.rest(roomOf(width))) };
    return this.#rest.lines;
  }

  /** The last lines. What comes later begins anew. */
  end(width: number, time: ReadingTime): string[] {
    const lines = [...this.#taken(width, time), ...indented(this.#markdown.end(roomOf(width)))];
    this.#rest = undefined;
    return lines;
  }

  /** The agent sent the message as a whole. What it repeats is not drawn again. */
  #replaced(width: number, lines: string[]): void {
    const before = readText(this.#position);
    const { content } = this.item;
    const now = content.map(textOf).join("");
    if (now.startsWith(before)) this.#position = positionAt(content, before.length);
    else if (now.trimEnd() === before.trimEnd()) this.#position = positionAt(content, now.length);
    else {
      this.#position = startOf(content);
      // lines that were only in the tail are gone
      this.#markdown = new StreamedMarkdown(this.#paint);
      if (this.#hasPrinted && before.trim() !== "" && now.trim() !== "")
        lines.push(
          ...wrappedWords("↻ the agent changed this message:", roomOf(width)).map((line) =>
            this.#paint("dim", line),
          ),
        );
    }
  }

  #read(width: number, time: ReadingTime, lines: string[]): void {
    const { content } = this.#position;
    let { block: at, offset, attachments } = this.#position;
    for (; at < content.length; at += 1) {
      const block = content[at];
      if (block?.type === "text" && typeof block.text === "string") {
        if (block.text.length > offset) this.#text(this.#unread(block.text, offset), width, time, lines);
        offset = block.text.length;
        // more may be added to the last block
        if (at === content.length - 1) break;
      } else if (block !== undefined) {
        attachments += 1;
        append(lines, this.#markdown.end(width));
        append(lines, wrappedWords(placeholder(block, attachments), width));
        this.#markdown = new StreamedMarkdown(this.#paint);
      }
      offset = 0;
    }
    this.#position = { content, block: at, offset: at < content.length ? offset : 0, attachments };
  }

  /** Without the blank before the first word that is printed later than the word before it. */
  #unread(text: string, offset: number): string {
    const unread = text.slice(offset);
    const isStart = this.#isLate && unread.trim() !== "";
    if (isStart) this.#isLate = false;
    return isStart ? unread.replace(/^ {1,3}(?=\S)/, "") : unread;
  }

  #text(text: string, width: number, time: ReadingTime, lines: string[]): void {
    if (text.length <= time.characters) {
      time.characters -= text.length;
      this.#markdown.push(text);
    } else {
      const end = text.lastIndexOf("\n") + 1;
      append(lines, this.#markdown.end(width));
      const words = shortLines(text.slice(0, end === 0 ? text.length : end)).join("\n");
      append(lines, plainLines(words, width));
      this.#markdown = new StreamedMarkdown(this.#paint);
      if (end > 0) this.#markdown.push(text.slice(end));
    }
    append(lines, this.#markdown.takeFinished(width));
  }
}

/** The end of a message, as if all of it had been read. */
export function endOf(content: readonly ContentBlock[]): ReadPosition {
  return positionAt(content, Number.POSITIVE_INFINITY);
}

function startOf(content: readonly ContentBlock[]): ReadPosition {
  return { content, block: 0, offset: 0, attachments: 0 };
}

function positionAt(content: readonly ContentBlock[], characters: number): ReadPosition {
  let left = characters;
  let attachments = 0;
  for (const [at, block] of content.entries()) {
    const { length } = textOf(block);
    const isText = block.type === "text";
    if (isText && (left < length || at === content.length - 1))
      return { content, block: at, offset: Math.min(left, length), attachments };
    if (left < length) return { content, block: at, offset: 0, attachments };
    left -= length;
    if (!isText) attachments += 1;
  }
  return { content, block: content.length, offset: 0, attachments };
}

function readText({ content, block, offset }: ReadPosition): string {
  const whole = content.slice(0, block).map(textOf).join("");
  const last = content[block];
  return last === undefined ? whole : `${whole}${textOf(last).slice(0, offset)}`;
}

function textOf(block: ContentBlock): string {
  return block.type === "text" && typeof block.text === "string" ? block.text : `\n[${block.type}]\n`;
}

/** The columns for the text. */
function roomOf(width: number): number {
  return Math.max(8, width - messageIndent.length);
}

/** Without a spread, whose length is limited. */
export function append(lines: string[], more: readonly string[]): void {
  for (const line of more) lines.push(line);
}
