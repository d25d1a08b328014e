// Shows a model the lines around its changes, with their numbers, as the file has them now.

import { shortLine } from "../base/truncation.ts";
import { lineAt, type Span } from "./text-match.ts";

/** Lines around a change. */
const around = 2;
/** Lines at each end of a change; the model wrote those between. */
const atEnds = 4;
const maxLines = 60;

/** `changes` are spans of the old text, in order; each line is `number:text`, as grep gives it. */
export function resultSnippet(
  newText: string,
  changes: readonly (Span & { readonly newText: string })[],
): string {
  const wanted = new Set<number>();
  let grown = 0;
  for (const { start, end, newText: added } of changes) {
    if (wanted.size > maxLines) break;
    const first = lineAt(newText, start + grown);
    // a line end belongs to its line
    const last = lineAt(newText, start + grown + Math.max(0, added.length - (added.endsWith("\n") ? 1 : 0)));
    for (let line = first - around; line <= last + around; line += 1)
      if (line < first + atEnds || line > last - atEnds) wanted.add(line);
    grown += added.length - (end - start);
  }
  const lines = newText.split(/\r?\n/);
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const numbers = [...wanted].filter((line) => line >= 1 && line <= count).sort((one, other) => one - other);
  const shown = numbers.slice(0, maxLines).flatMap((line, i) => {
    const isGap = i > 0 && numbers[i - 1] !== line - 1;
    return [...(isGap ? ["--"] : []), `${line}:${shortLine(lines[line - 1] ?? "")}`];
  });
  return [...shown, ...(numbers.length > maxLines ? ["--"] : [])].join("\n");
}
