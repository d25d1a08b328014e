// Cuts a range of lines out of a text, as `fs/read_text_file` defines it.

import type { ReadTextOptions } from "@parley/acp/model";

export function linesOf(text: string, { line, limit }: Pick<ReadTextOptions, "line" | "limit">): string {
  const start = line === undefined ? 0 : after(text, 0, Math.max(line, 1) - 1);
  return limit === undefined ? text.slice(start) : text.slice(start, after(text, start, limit));
}

function after(text: string, from: number, count: number): number {
  let start = from;
  for (let left = count; left > 0; left--) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  return start;
}
