// Cuts a long message into parts that are drawn one by one, so that nobody waits for what is not on the screen.

export interface MessagePart {
  readonly text: string;
  /** Whether it begins or ends inside of code: the first or last drawn line is then a fence of ours. */
  readonly isInside: { readonly start: boolean; readonly end: boolean };
}

/** A part is cut at the next blank line, and at any line if it is twice as long. */
const partLength = 4 * 1024;

/** Markdown, cut between its blocks where possible. */
export function messageParts(text: string): MessagePart[] {
  if (text.length <= 2 * partLength) return [{ text, isInside: { start: false, end: false } }];
  const parts: MessagePart[] = [];
  let lines: string[] = [];
  let length = 0;
  let fence: { readonly opening: string; readonly mark: string } | undefined;
  let start = false;
  const cut = (): void => {
    if (fence !== undefined) lines.push(fence.mark);
    parts.push({ text: lines.join("\n"), isInside: { start, end: fence !== undefined } });
    start = fence !== undefined;
    lines = fence === undefined ? [] : [fence.opening];
    length = 0;
  };
  for (const line of shortLines(text)) {
    lines.push(line);
    length += line.length + 1;
    const [opening = "", mark = ""] = /^ {0,3}(`{3,}|~{3,}).*/.exec(line) ?? [];
    if (fence === undefined && mark !== "") fence = { opening, mark };
    else if (fence !== undefined && mark.startsWith(fence.mark) && opening.trim() === mark) fence = undefined;
    const isBlockEnd = fence === undefined && line.trim() === "";
    if (length > 2 * partLength || (length > partLength && isBlockEnd)) cut();
  }
  if (length > 0) cut();
  return parts;
}

/** The lines of a text. Very long ones are cut between words. */
export function shortLines(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    if (line.length <= 2 * partLength) return [line];
    const pieces: string[] = [];
    for (let at = 0; at < line.length; ) {
      const end = at + partLength;
      const blank = line.lastIndexOf(" ", end);
      const next = blank > at ? blank + 1 : end;
      pieces.push(line.slice(at, next));
      at = next;
    }
    return pieces;
  });
}
