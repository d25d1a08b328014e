// Makes text that a model chose safe for a one-line title or question.

const maxLength = 200;
const misleading = /[\p{Cc}\u061c\u180e\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu;

/** Removes characters that end, reorder or hide a line, and shortens the rest. */
export function oneLine(text: string): string {
  const line = text.replaceAll(misleading, " ").trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
