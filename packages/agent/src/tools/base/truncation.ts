// Limits the text sent to a model to 2,000 lines or 50 KB, in whole lines.

import type { MediaPart, TextPart } from "../../model/model.ts";

export const maxLines = 2_000;
export const maxBytes = 50 * 1024;
/** Limit for one line in a list of matches. */
export const maxLineChars = 500;

export interface Excerpt {
  readonly text: string;
  /** 1-based, inclusive. `to` is `from - 1` when no whole line fits. */
  readonly from: number;
  readonly to: number;
  readonly lines: number;
  readonly isCut: boolean;
}

export interface ExcerptOptions {
  readonly maxLines?: number;
  readonly maxBytes?: number;
}

/** The first lines that fit, starting at line `from`. */
export function headOf(text: string, from = 1, options: ExcerptOptions = {}): Excerpt {
  const lines = linesOf(text);
  const most = Math.min(options.maxLines ?? maxLines, maxLines);
  let left = options.maxBytes ?? maxBytes;
  let end = from - 1;
  for (; end < lines.length && end - (from - 1) < most; end += 1) {
    left -= Buffer.byteLength(lines[end] ?? "") + 1;
    if (left < -1) break;
  }
  const kept = lines.slice(from - 1, end);
  return {
    text: kept.join("\n"),
    from,
    to: from - 1 + kept.length,
    lines: lines.length,
    isCut: kept.length < lines.length,
  };
}

/** The last lines that fit; the end of the last line when even that is too long. */
export function tailOf(text: string): Excerpt {
  const lines = linesOf(text);
  let left = maxBytes;
  let start = lines.length;
  for (; start > 0 && lines.length - start < maxLines; start -= 1) {
    left -= Buffer.byteLength(lines[start - 1] ?? "") + 1;
    if (left < -1) break;
  }
  const isOneLongLine = start === lines.length && lines.length > 0;
  const kept = isOneLongLine ? [endOf(lines.at(-1) ?? "", maxBytes)] : lines.slice(start);
  return {
    text: kept.join("\n"),
    from: lines.length - kept.length + 1,
    to: lines.length,
    lines: lines.length,
    isCut: isOneLongLine || kept.length < lines.length,
  };
}

/** A final line end does not start another line. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function endOf(line: string, bytes: number): string {
  const end = Buffer.from(line).subarray(-bytes);
  let from = 0;
  while (from < 3 && ((end[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return end.toString("utf8", from);
}

export function shortLine(line: string): string {
  if (line.length <= maxLineChars) return line;
  return `${line.slice(0, maxLineChars)}… [${line.length - maxLineChars} more characters]`;
}

/** Cuts text from other sources, such as MCP servers, with a note. */
export function limitedContent(content: readonly (TextPart | MediaPart)[]): (TextPart | MediaPart)[] {
  let lines = maxLines;
  let bytes = maxBytes;
  return content.map((part): TextPart | MediaPart => {
    if (part.type !== "text") return part;
    const excerpt = headOf(part.text, 1, { maxLines: lines, maxBytes: Math.max(bytes, 0) });
    lines = Math.max(0, lines - (excerpt.to - excerpt.from + 1));
    bytes -= Buffer.byteLength(excerpt.text);
    if (!excerpt.isCut) return part;
    const note = `[lines ${excerpt.to + 1}-${excerpt.lines} of ${excerpt.lines} were left out: too long]`;
    return { type: "text", text: excerpt.text === "" ? note : `${excerpt.text}\n${note}` };
  });
}

/** Adds each note on a line of its own, in brackets. */
export function withNotes(text: string, notes: readonly string[]): string {
  return [text, ...notes.map((note) => `[${note}]`)].filter((part) => part !== "").join("\n");
}
