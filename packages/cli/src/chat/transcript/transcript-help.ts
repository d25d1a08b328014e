// The keys of the whole transcript, in as few lines as fit.

import { clipped } from "../../draw/text-lines.ts";
import type { Paint } from "../../terminal/paint.ts";

const help = [
  "Up Down or j k: line",
  "PageUp PageDown or u d: half a page",
  "g G: start, end",
  "[ ]: prompt before, after",
  "Enter: fold or unfold",
  "E: all",
  "/: search, n N: next, previous",
  "o: open the file or image",
  "y: copy",
  "q: back",
] as const;

export function helpLines(columns: number, paint: Paint): string[] {
  const lines: string[] = [];
  for (const each of help) {
    const longer = `${lines.at(-1) ?? ""}   ${each}`;
    if (lines.length > 0 && longer.length <= columns) lines.splice(-1, 1, longer);
    else lines.push(clipped(each, columns));
  }
  return lines.map((line) => paint("dim", line));
}
