// What became of each file that was taken back, one line each.

import { relative } from "node:path";
import { escapedLine, safeLine } from "../../terminal/sanitise.ts";
import type { ReviewResult } from "../sheets/review-source.ts";

/** With the turn that was taken back, by its number and the beginning of its prompt. */
export type NamedResult = ReviewResult & { readonly turn?: string };

export function resultLines({ files, notes, turn }: NamedResult, cwd: string): string[] {
  const lines = files.map(({ path, outcome, reason }) => {
    const why = reason === undefined ? "" : `: ${reason}`;
    return `${outcome} ${escapedLine(relative(cwd, path))}${why}`;
  });
  return [...(turn === undefined ? [] : [`undo of ${turn}`]), ...lines, ...notes].map(safeLine);
}
