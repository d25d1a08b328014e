// Cuts a long message into parts that are drawn one by one, so that nobody waits for what is not on the screen.

export interface MessagePart {
  readonly text: string;
  /** Where it begins in the message. */
  readonly from: number;
  /** The line that opened the code in which it begins. */
  readonly opening: string | undefined;
  /** The line that opened the code in which it ends. */
  readonly fence: string | undefined;
}

export interface TextPlace {
  /** The parts of the text before it grew. */
  readonly known?: readonly MessagePart[] | undefined;
  /** The line that opened the code in which the text begins. */
  readonly opening?: string | undefined;
  /** Whether more text follows in another block. */
  readonly isContinued?: boolean;
}

/** A part is cut at the next blank line, and at any line if it is twice as long. */
const partLength = 4 * 1024;
const longest = 2 * partLength;

/** Markdown, cut between its blocks where possible. */
export function messageParts(text: string, place: TextPlace = {}): MessagePart[] {
  const { known = [], isContinued = false } = place;
  const parts = known.slice(0, -1);
  let { from = 0, opening = place.opening } = known.at(-1) ?? {};
  let fence = opening;
  const cut = (end: number, isEnd: boolean): void => {
    const isCutInCode = fence !== undefined && !isEnd;
    const start = opening === undefined ? "" : `${opening}\n`;
    const close = isCutInCode ? `\n${markOf(fence ?? "")}\n` : "";
    parts.push({ text: `${start}${text.slice(from, end)}${close}`, from, opening, fence });
    from = end;
    opening = fence;
  };
  for (let at = from; at < text.length; ) {
    const { end, next } = lineAt(text, at);
    const line = text.slice(at, end);
    fence = fenceAfter(line, fence);
    at = next;
    const isBlockEnd = fence === undefined && line.trim() === "";
    const isLongLine = text[end] !== "\n" && end < text.length;
    if (at - from > longest || (at - from > partLength && (isBlockEnd || isLongLine)))
      cut(at, at >= text.length && !isContinued);
  }
  if (from < text.length) cut(text.length, !isContinued);
  return parts;
}

function lineAt(text: string, at: number): { readonly end: number; readonly next: number } {
  const feed = text.indexOf("\n", at);
  const end = feed < 0 ? text.length : feed;
  if (end - at <= longest) return { end, next: end + 1 };
  const blank = text.lastIndexOf(" ", at + partLength);
  return blank > at ? { end: blank, next: blank + 1 } : { end: at + partLength, next: at + partLength };
}

/** The line that opened the code in which the next line stands. */
function fenceAfter(line: string, fence: string | undefined): string | undefined {
  if (!/^ {0,3}(?:```|~~~)/.test(line)) return fence;
  if (fence === undefined) return line;
  const mark = markOf(line);
  return mark.startsWith(markOf(fence)) && line.trim() === mark ? undefined : fence;
}

function markOf(line: string): string {
  return /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
}
