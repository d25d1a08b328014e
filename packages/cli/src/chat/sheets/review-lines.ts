// The changes of one file as rows, and what a review says about them.

import { cutLine, foldedLine } from "../../screen/cells.ts";
import type { Paint } from "../../terminal/paint.ts";
import { escapedLine } from "../../terminal/sanitise.ts";
import type { ReviewChanges, ReviewFile, ReviewHunk, ReviewLine, ReviewResult } from "./review-source.ts";

/** The rows of a file, and where its current hunk is among them. */
export interface FileRows {
  readonly rows: readonly string[];
  readonly first: number;
  readonly last: number;
}

export function fileRows(
  file: ReviewFile,
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
    for (const row of knownRows(hunk, columns - 2, paint)) rows.push(`${gutter}${row}`);
    if (isCurrent) [first, last] = [begin, rows.length - 1];
    rows.push("");
  }
  rows.pop();
  return { rows, first, last };
}

const known = new WeakMap<ReviewHunk, { columns: number; paint: Paint; rows: readonly string[] }>();

/** A hunk never changes: its rows are made once for each width. */
function knownRows(hunk: ReviewHunk, columns: number, paint: Paint): readonly string[] {
  const before = known.get(hunk);
  if (before?.columns === columns && before.paint === paint) return before.rows;
  const rows = hunkRows(hunk, columns, paint);
  known.set(hunk, { columns, paint, rows });
  return rows;
}

function hunkRows(hunk: ReviewHunk, columns: number, paint: Paint): string[] {
  const turns = `turn ${hunk.turns.join(", ")}`;
  const where =
    hunk.kind === "lines" ? `line ${hunk.newStart}` : hunk.kind === "mode" ? "mode" : "whole file";
  const heading = cutLine(`${where} · ${turns} · ${stateText(hunk)}`, columns);
  const about = hunk.about === undefined ? [] : foldedLine(escapedLine(hunk.about), columns);
  const isMixed = new Set(hunk.lines.map(({ ending }) => ending).filter((ending) => ending !== "")).size > 1;
  return [
    paint(hunk.state === "open" ? "heading" : "dim", heading),
    ...about.map((row) => paint("warning", row)),
    ...hunk.lines.flatMap((line) => lineRows(line, isMixed, columns, paint)),
  ];
}

const marks = { context: " ", added: "+", removed: "-" } as const;
const roles = { context: "dim", added: "added", removed: "removed" } as const;

/** The first column is ours: the rest of a line that is folded cannot look like a line of its own. */
function lineRows(
  { kind, text, ending }: ReviewLine,
  isMixed: boolean,
  columns: number,
  paint: Paint,
): string[] {
  const shown = escapedLine(text.replaceAll("\t", "    "));
  const end = ending === "\r\n" && isMixed ? "␍" : "";
  const rows = foldedLine(`${shown}${end}`, Math.max(1, columns - 2)).map((row, at) =>
    paint(roles[kind], `${at === 0 ? marks[kind] : "↪"} ${row}`),
  );
  return ending === "" ? [...rows, paint("dim", cutLine("  (no line end)", columns))] : rows;
}

function stateText({ state }: ReviewHunk): string {
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
  const count = (text: string, isWanted: (hunk: ReviewHunk) => boolean) => {
    const number = hunks.filter(isWanted).length;
    return number === 0 ? [] : [`${number} ${text}`];
  };
  const counts = [
    ...count("open", ({ state }) => state === "open"),
    ...count("kept", ({ state }) => state === "kept"),
    ...count("undone", ({ state }) => state === "undone"),
    ...count("not to be undone", ({ state }) => state === "superseded" || state === "changed-since"),
  ];
  return `${files.length} ${files.length === 1 ? "file" : "files"} +${added} -${removed} · ${counts.join(", ")}`;
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
