// Draws one message of the agent while it grows: what cannot change any more once, and the rest again.

import type { ContentBlock } from "@parley/acp";
import type { MessageItem } from "@parley/acp/view";
import { indented, messageIndent, plainLines } from "../../draw/message-lines.ts";
import { placeholder } from "../../draw/placeholders.ts";
import { StreamedMarkdown } from "../../draw/streamed-markdown.ts";
import { clipped, count, wrappedWords } from "../../draw/text-lines.ts";
import type { Paint } from "../../terminal/paint.ts";

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
  /** Text that was read and is not on a page yet. */
  read: number;
  /** Whether the rest must wait for the next frame. */
  isUp: () => boolean;
}

/** Between two pieces there is a look at the clock. Markdown takes about a millisecond per kilobyte. */
const markdownPiece = 2 * 1024;
const wordsPiece = 2 * 1024;
/** So much is behind only if nothing was drawn for long: the last of it is drawn. */
const mostUnread = 1024 * 1024;
const keptUnread = 64 * 1024;

export class MessageStream {
  readonly item: MessageItem;
  readonly #paint: Paint;
  #markdown: StreamedMarkdown;
  #position: ReadPosition;
  #version = -1;
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
    return this.isRead ? [] : this.#taken(width, time);
  }

  /** Whether all of it is in the lines so far. */
  get isRead(): boolean {
    return this.item.version === this.#version;
  }

  #taken(width: number, time: ReadingTime): string[] {
    this.#rest = undefined;
    const lines: string[] = [];
    if (this.item.content !== this.#position.content) this.#replaced(width, lines);
    this.#skip(roomOf(width), lines);
    if (this.#read(roomOf(width), time, lines)) this.#version = this.item.version;
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
    const all = { ...time, isUp: () => false };
    const lines = [...this.#taken(width, all), ...indented(this.#markdown.end(roomOf(width)))];
    time.characters = all.characters;
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

  /** Leaves out text that nobody can follow any more, and says so. */
  #skip(width: number, lines: string[]): void {
    const { content, block, offset } = this.#position;
    const lengths = content.slice(block).map((each) => textOf(each).length);
    const unread = lengths.reduce((sum, length) => sum + length, -offset);
    if (unread <= mostUnread) return;
    append(lines, this.#markdown.end(width));
    this.#markdown = new StreamedMarkdown(this.#paint);
    const read = content.slice(0, block).reduce((sum, each) => sum + textOf(each).length, offset);
    this.#position = positionAt(content, read + unread - keptUnread);
    const text = `… ${count(unread - keptUnread)} characters more above: the whole transcript has them`;
    lines.push(this.#paint("dim", clipped(text, width)));
  }

  /** Whether everything was read before the time was up. */
  #read(width: number, time: ReadingTime, lines: string[]): boolean {
    const { content } = this.#position;
    let { block: at, offset, attachments } = this.#position;
    for (; at < content.length; at += 1) {
      const block = content[at];
      if (block?.type === "text" && typeof block.text === "string") {
        while (offset < block.text.length) {
          if (time.isUp()) {
            this.#position = { content, block: at, offset, attachments };
            return false;
          }
          const end = this.#piece(block.text, offset, width, time, lines);
          time.read += end - offset;
          offset = end;
        }
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
    return true;
  }

  /** Draws the next piece of a text, and returns its end. */
  #piece(text: string, offset: number, width: number, time: ReadingTime, lines: string[]): number {
    const unread = text.length - offset;
    if (unread <= time.characters) {
      const end = wholeEnd(text, offset, markdownPiece);
      time.characters -= end - offset;
      this.#markdown.push(this.#unread(text.slice(offset, end)));
      append(lines, this.#markdown.takeFinished(width));
      return end;
    }
    const most = wholeEnd(text, offset, wordsPiece);
    const feed = text.lastIndexOf("\n", most - 1) + 1;
    const blank = most < text.length ? text.lastIndexOf(" ", most - 1) + 1 : 0;
    const end = [feed, blank, most].find((each) => each > offset) ?? most;
    append(lines, this.#markdown.end(width));
    append(lines, plainLines(this.#unread(text.slice(offset, end)), width));
    this.#markdown = new StreamedMarkdown(this.#paint);
    if (end === most || most < text.length) return end;
    // the last line may go on
    this.#markdown.push(text.slice(end));
    append(lines, this.#markdown.takeFinished(width));
    return most;
  }

  /** Without the blank before the first word that is printed later than the word before it. */
  #unread(text: string): string {
    const isStart = this.#isLate && text.trim() !== "";
    if (isStart) this.#isLate = false;
    return isStart ? text.replace(/^ {1,3}(?=\S)/, "") : text;
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

/** The end of a piece that does not cut a pair in two. */
function wholeEnd(text: string, offset: number, length: number): number {
  const end = offset + length;
  if (end >= text.length) return text.length;
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
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
