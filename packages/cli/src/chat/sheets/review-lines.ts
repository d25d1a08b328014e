// The changes of one file as rows, and what a review says about them.

import type { FileChange, Hunk } from "@parley/review";
import { diffLines } from "../../draw/diff-lines.ts";
import { drawing } from "../../draw/draw-options.ts";
import type { PatchRow } from "../../draw/patch-rows.ts";
import { brokenLines, clipped, counted, sourceLines } from "../../draw/text-lines.ts";
import type { Paint } from "../../terminal/paint.ts";
import { escapedLine } from "../../terminal/sanitise.ts";
import type { ReviewChanges, ReviewResult } from "./review-source.ts";

/** The rows of a file, and where its current hunk is among them. */
export interface FileRows {
  readonly rows: readonly string[];
  readonly first: number;
  readonly last: number;
}

export function fileRows(
  file: FileChange,
  current: string | undefined,
  columns: number,
  paint: Paint,
): FileRows {
  const rows: string[] = [];
  let [first, last] = [0, 0];
  for (const hunk of file.hunks) {
    const isCurrent = hunk.id === current;
    const gutter = isCurrent ? `${paint("accent", "┃")} ` : "  ";
    const begin = rows.length;
    for (const row of knownRows(hunk, file.path, columns - 2, paint)) rows.push(`${gutter}${row}`);
    if (isCurrent) [first, last] = [begin, rows.length - 1];
    rows.push("");
  }
  rows.pop();
  return { rows, first, last };
}

const known = new WeakMap<Hunk, { columns: number; paint: Paint; rows: readonly string[] }>();

/** A hunk never changes: its rows are made once for each width. */
function knownRows(hunk: Hunk, path: string, columns: number, paint: Paint): readonly string[] {
  const before = known.get(hunk);
  if (before?.columns === columns && before.paint === paint) return before.rows;
  const rows = hunkRows(hunk, path, columns, paint);
  known.set(hunk, { columns, paint, rows });
  return rows;
}

/** The first line that a hunk changes, as the file is now. Unchanged lines may come before it. */
export function changedLine({ lines, newStart }: Hunk): number {
  return (
    newStart +
    Math.max(
      0,
      lines.findIndex(({ kind }) => kind !== "context"),
    )
  );
}

function hunkRows(hunk: Hunk, path: string, columns: number, paint: Paint): string[] {
  const turns = `turn ${hunk.turns.join(", ")}`;
  const where =
    hunk.kind === "lines" ? `line ${changedLine(hunk)}` : hunk.kind === "mode" ? "mode" : "whole file";
  const heading = clipped(`${where} · ${turns} · ${stateText(hunk)}`, columns);
  const about = hunk.about === undefined ? [] : brokenLines(escapedLine(hunk.about), columns);
  const look = { path, showsFiles: false };
  return [
    paint(hunk.state === "open" ? "heading" : "dim", heading),
    ...about.map((row) => paint("warning", row)),
    ...diffLines(hunkLines(hunk), look, drawing({ width: columns, paint, cwd: "", isExpanded: true })),
  ];
}

/** The lines of a hunk, to draw. */
export function hunkLines({ lines, oldStart, newStart }: Hunk): PatchRow[] {
  let [old, now] = [oldStart, newStart];
  const isMixed = new Set(lines.map(({ ending }) => ending).filter((ending) => ending !== "")).size > 1;
  return lines.flatMap(({ kind, text, ending }): PatchRow[] => {
    // a line that differs only in its end must differ in what is seen
    const end = ending === "\r\n" && isMixed ? "␍" : "";
    const [shown = ""] = sourceLines(escapedLine(text.replaceAll("\t", "    ")));
    const row: PatchRow = {
      kind,
      text: `${shown}${end}`,
      ...(kind === "added" ? {} : { old: old++ }),
      ...(kind === "removed" ? {} : { now: now++ }),
    };
    return ending === "" ? [row, { kind: "note", text: "\\ No newline at end of file" }] : [row];
  });
}

function stateText({ state }: Hunk): string {
  const texts = {
    open: "open",
    kept: "✓ kept",
    undone: "✗ undone",
    superseded: "changed again by a later turn",
    "changed-since": "you changed it since",
  } as const;
  return texts[state];
}

/** `3 files +92 -46 · 4 open, 2 kept`. */
export function countsText({ files, added, removed }: ReviewChanges): string {
  const hunks = files.flatMap((file) => file.hunks);
  const count = (text: string, isWanted: (hunk: Hunk) => boolean) => {
    const number = hunks.filter(isWanted).length;
    return number === 0 ? [] : [`${number} ${text}`];
  };
  const counts = [
    ...count("open", ({ state }) => state === "open"),
    ...count("kept", ({ state }) => state === "kept"),
    ...count("undone", ({ state }) => state === "undone"),
    ...count("not to be undone", ({ state }) => state === "superseded" || state === "changed-since"),
  ];
  // of what is decided there are no lines to count
  const lines = added + removed === 0 ? "" : ` +${added} -${removed}`;
  return `${counted(files.length, "file")}${lines} · ${counts.join(", ")}`;
}

/** What became of each file, in as few words as possible. */
export function resultText({ files, notes }: ReviewResult, shownPath: (path: string) => string): string {
  const texts = files.map(({ path, outcome, reason }) => {
    const name = shownPath(path);
    if (outcome === "refused") return `not undone in ${name}: ${reason ?? "the file has changed"}`;
    return outcome === "merged" ? `${name}: merged, your own changes stayed` : `${outcome} in ${name}`;
  });
  return escapedLine([...new Set(texts), ...notes].join("; "));
}
