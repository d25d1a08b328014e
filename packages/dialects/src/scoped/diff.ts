// Translates diffs: the dialect has hunks, version 1 the texts of the file.

import { gitPatch } from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";

/** The hunks between two texts; undefined stands for a file that does not exist. */
export function hunksBetween(path: string, oldText: string | undefined, newText: string): scoped.DiffHunk[] {
  const lines = gitPatch(path, oldText, newText).split("\n");
  const hunks: { header: RegExpExecArray; lines: string[] }[] = [];
  for (const line of lines) {
    // every other line of a hunk begins with its sign
    const header = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@/.exec(line);
    if (header !== null) hunks.push({ header, lines: [line] });
    else if (line !== "") hunks.at(-1)?.lines.push(line);
  }
  return hunks.map(({ header, lines: content }) => {
    const [oldStart = 0, oldLines = 0, newStart = 0, newLines = 0] = header.slice(1).map(Number);
    return { oldStart, oldLines, newStart, newLines, content: content.join("\n") };
  });
}

/** As a person reads it. */
export function diffText({ path, hunks }: scoped.DiffOutput): string {
  return [`--- ${path}`, `+++ ${path}`, ...hunks.map(({ content }) => content)].join("\n");
}

/** The lines of both sides around the changes. Undefined where a hunk cannot be read. */
export function textsOfHunks(
  hunks: readonly scoped.DiffHunk[],
): { readonly oldText: string | undefined; readonly newText: string } | undefined {
  const before: string[] = [];
  const after: string[] = [];
  for (const { content } of hunks) {
    for (const line of content.replace(/\n$/, "").split("\n")) {
      const sign = line[0] ?? " ";
      if (line.startsWith("@@") || sign === "\\") continue;
      if (!" -+".includes(sign)) return undefined;
      if (sign !== "+") before.push(line.slice(1));
      if (sign !== "-") after.push(line.slice(1));
    }
  }
  if (hunks.length === 0) return undefined;
  const isNew = before.length === 0 && hunks.every(({ oldStart, oldLines }) => oldStart + oldLines === 0);
  return { oldText: isNew ? undefined : textOf(before), newText: textOf(after) };
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
