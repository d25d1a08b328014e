// How much of a text a model is told, in one place: at most 2,000 lines or 50 KB, whole lines, with a note that
// says what was left out. The beginning of what is read, the end of what a command prints.

import type { MediaPart, TextPart } from "../../model/model.ts";

export const maxLines = 2_000;
export const maxBytes = 50 * 1024;
/** Of one line of a list of matches. */
export const maxLineChars = 500;

export interface Excerpt {
  readonly text: string;
  /** 1-based, inclusive. `to` is `from - 1` where no whole line fits. */
  readonly from: number;
  readonly to: number;
  /** Of the whole text. */
  readonly lines: number;
  readonly isCut: boolean;
}

export interface ExcerptOptions {
  readonly maxLines?: number;
  readonly maxBytes?: number;
}

/** The first lines, from line `from` on. */
export function headOf(text: string, from = 1, options: ExcerptOptions = {}): Excerpt {
  const lines = linesOf(text);
  const { most, bytes } = limitsOf(options);
  let left = bytes;
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

/** The last lines. Where even the last one is too long, its end. */
export function tailOf(text: string, options: ExcerptOptions = {}): Excerpt {
  const lines = linesOf(text);
  const { most, bytes } = limitsOf(options);
  let left = bytes;
  let start = lines.length;
  for (; start > 0 && lines.length - start < most; start -= 1) {
    left -= Buffer.byteLength(lines[start - 1] ?? "") + 1;
    if (left < -1) break;
  }
  const isOneLongLine = start === lines.length && lines.length > 0;
  const kept = isOneLongLine ? [endOf(lines.at(-1) ?? "", bytes)] : lines.slice(start);
  return {
    text: kept.join("\n"),
    from: lines.length - kept.length + 1,
    to: lines.length,
    lines: lines.length,
    isCut: isOneLongLine || kept.length < lines.length,
  };
}

/** Without the end of the last line, which is no line of its own. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function limitsOf(options: ExcerptOptions): { readonly most: number; readonly bytes: number } {
  return { most: Math.min(options.maxLines ?? maxLines, maxLines), bytes: options.maxBytes ?? maxBytes };
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

/** For results that no tool of ours made, such as those of MCP servers: text beyond the limits is cut, with a note. */
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
