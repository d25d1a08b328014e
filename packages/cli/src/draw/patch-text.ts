// A patch as it is written, with colours: for questions, which leave nothing out, and for plain text.

import type { Paint } from "../terminal/paint.ts";
import { escapedSource } from "../terminal/sanitise.ts";

/** A patch without its header: the heading names the file. */
export function patchLines(patch: string, paint: Paint): string[] {
  const start = patch.search(/^@@ /m);
  return wholePatchLines(patch.slice(Math.max(0, start)), paint, cutLine);
}

/** With its first lines, which name the file, and with all of every line. */
export function wholePatchLines(
  patch: string,
  paint: Paint,
  cut: (line: string) => string = (line) => line,
): string[] {
  return escapedSource(patch)
    .trimEnd()
    .split("\n")
    .map((line) =>
      paint(line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "dim", cut(line)),
    );
}

const longestLine = 2_000;

/** A very long line without its middle. */
function cutLine(line: string): string {
  if (line.length <= longestLine) return line;
  const half = longestLine / 2;
  return `${line.slice(0, half)} … ${line.length - longestLine} more characters … ${line.slice(-half)}`;
}
