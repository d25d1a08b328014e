// Finds what differs within a changed line.

export interface ChangedPart {
  readonly start: number;
  readonly oldEnd: number;
  readonly newEnd: number;
}

const longestLine = 1_000;
/** Lines that share less are different lines. */
const leastShared = 0.3;

/** The changed words of a line. Undefined if the lines have little in common. */
export function changedPart(old: string, now: string): ChangedPart | undefined {
  const least = Math.min(old.length, now.length);
  if (least === 0 || Math.max(old.length, now.length) > longestLine) return undefined;
  let start = 0;
  while (start < least && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < least - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  // whole words are marked
  while (start > 0 && isInWord(old, start) && isInWord(now, start)) start -= 1;
  while (end > 0 && (isInWord(old, old.length - end) || isInWord(now, now.length - end))) end -= 1;
  const shared = old.slice(0, start).trim().length + old.slice(old.length - end).trim().length;
  if (shared < leastShared * Math.max(old.trim().length, now.trim().length)) return undefined;
  return { start, oldEnd: old.length - end, newEnd: now.length - end };
}

/** Whether a word, or a character of two halves, goes on at this place. */
function isInWord(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  return (
    /[\p{L}\p{N}\p{M}\p{Cs}_]{2}/u.test(text.slice(at - 1, at + 1)) || /[\udc00-\udfff]/.test(text[at] ?? "")
  );
}
