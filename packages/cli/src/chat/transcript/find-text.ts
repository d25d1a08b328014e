// Looks for text in lines, and marks it.

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what it looks for
const colours = /\u001b\[[\d;]*m/g;
const pieces = new RegExp(`(${colours.source})`);
const marked = "\u001b[7m";
const unmarked = "\u001b[27m";

/** Small letters find capital ones too. */
export function textPattern(query: string): RegExp | undefined {
  if (query === "") return undefined;
  // without the rules of Unicode, capital letters are found much faster
  const isAscii = /^[\x20-\x7e]*$/.test(query);
  const isExact = query !== query.toLowerCase();
  return new RegExp(
    query.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"),
    `g${isExact ? "" : "i"}${isAscii ? "" : "u"}`,
  );
}

export function hasMatch(text: string, pattern: RegExp): boolean {
  pattern.lastIndex = 0;
  return pattern.test(text);
}

export function withoutColours(line: string): string {
  return line.includes("\u001b") ? line.replaceAll(colours, "") : line;
}

/** The line with what was found in reverse; its own colours stay. */
export function withMatches(line: string, pattern: RegExp): string {
  // it begins where the last search ended
  pattern.lastIndex = 0;
  const ranges = [...withoutColours(line).matchAll(pattern)].map(
    ({ index, 0: { length } }) => [index, index + length] as const,
  );
  if (ranges.length === 0) return line;
  let shown = "";
  let at = 0;
  let next = 0;
  let isMarked = false;
  for (const piece of line.split(pieces)) {
    if (piece.startsWith("\u001b")) {
      // a colour may end all others, and the mark with them
      shown += isMarked ? `${piece}${marked}` : piece;
      continue;
    }
    for (const character of piece.split("")) {
      const [start = -1, end = -1] = ranges[next] ?? [];
      if (at === start) {
        shown += marked;
        isMarked = true;
      }
      shown += character;
      at += 1;
      if (at === end) {
        shown += unmarked;
        isMarked = false;
        next += 1;
      }
    }
  }
  return shown;
}
