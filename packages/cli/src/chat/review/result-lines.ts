// What became of each file that was taken back, one line each.

import { relative } from "node:path";
import { escapedLine, safeLine } from "../../terminal/sanitise.ts";
import type { ReviewResult } from "../sheets/review-source.ts";

export function resultLines({ files, notes }: ReviewResult, cwd: string): string[] {
  const lines = files.map(({ path, outcome, reason }) => {
    const why = reason === undefined ? "" : `: ${reason}`;
    return `${outcome} ${escapedLine(relative(cwd, path))}${why}`;
  });
  return [...lines, ...notes].map(safeLine);
}
