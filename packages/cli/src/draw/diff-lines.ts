// Draws changes of files: below each other, or side by side where there is room.

import type { Paint } from "../terminal/paint.ts";
import type { Drawing } from "./draw-options.ts";
import { highlighted, languageOf } from "./highlight.ts";
import type { PatchRow } from "./patch-rows.ts";
import { brokenLines, clipped, counted, padded } from "./text-lines.ts";
import { changedPart } from "./word-marks.ts";

/** From here on, both sides have room for code. */
const sideBySideWidth = 120;
const foldedLines = 40;

export interface DiffLook {
  /** For its syntax. */
  readonly path?: string | undefined;
  readonly showsFiles: boolean;
}

/** Folded: the first lines. */
export function diffLines(rows: readonly PatchRow[], look: DiffLook, drawing: Drawing): string[] {
  const { width, paint, marks, isExpanded } = drawing;
  const most = isExpanded ? Number.POSITIVE_INFINITY : foldedLines;
  const seen = look.showsFiles ? rows : rows.filter(({ kind }) => kind !== "file");
  const digits = String(seen.reduce((most, { old = 0, now = 0 }) => Math.max(most, old, now), 0)).length;
  const sides = width >= sideBySideWidth && seen.some(({ kind }) => kind === "removed");
  const lines: string[] = [];
  let done = 0;
  for (const block of blocksOf(seen)) {
    if (lines.length >= most) break;
    // a block may have far more rows than are shown
    const shown = block.slice(0, most - lines.length);
    const texts = colouredTexts(shown, look.path, paint);
    const size = { width, digits, paint, bar: marks.bar };
    lines.push(
      ...(sides ? sideLines(shown, texts, size) : shown.flatMap((row) => rowLines(row, texts, size))),
    );
    done += shown.length;
  }
  const rest = seen.length - done + (lines.length > most ? 1 : 0);
  if (rest === 0) return lines;
  return [
    ...lines.slice(0, most),
    paint("dim", clipped(`${marks.more} ${counted(rest, "more line")}`, width)),
  ];
}

interface Size {
  readonly width: number;
  readonly digits: number;
  readonly paint: Paint;
  readonly bar: string;
}

/** Each hunk with its header, and what is between them. */
function blocksOf(rows: readonly PatchRow[]): PatchRow[][] {
  const blocks: PatchRow[][] = [];
  for (const row of rows) {
    const last = blocks.at(-1);
    if (last === undefined || row.kind === "hunk" || row.kind === "file") blocks.push([row]);
    else last.push(row);
  }
  return blocks;
}

type Texts = ReadonlyMap<PatchRow, string>;

/** Lines that were changed have their words marked; the others are coloured by their syntax. */
function colouredTexts(rows: readonly PatchRow[], path: string | undefined, paint: Paint): Texts {
  const texts = new Map<PatchRow, string>();
  const language = path === undefined ? undefined : languageOf(path);
  for (const side of ["removed", "added"] as const) {
    const own = rows.filter(({ kind }) => kind === side || kind === "context");
    const coloured = highlighted(own.map(({ text }) => text).join("\n"), language, paint);
    for (const [at, row] of own.entries()) {
      const shown = coloured.length === own.length ? (coloured[at] ?? "") : row.text;
      // without a syntax, the whole line has the colour of its side
      const isPlain = shown === row.text && row.kind === side && shown !== "";
      texts.set(row, isPlain ? paint(side, shown) : shown);
    }
  }
  for (const [old, now] of changedPairs(rows)) {
    const part = changedPart(old.text, now.text);
    if (part === undefined) continue;
    texts.set(old, marked(old.text, part.start, part.oldEnd, "removed", paint));
    texts.set(now, marked(now.text, part.start, part.newEnd, "added", paint));
  }
  return texts;
}

/** A removed line and the added one in its place. */
function* changedPairs(rows: readonly PatchRow[]): Iterable<[PatchRow, PatchRow]> {
  for (const { removed, added } of pairsOf(rows)) {
    for (const [at, old] of removed.entries()) {
      const now = added[at];
      if (now !== undefined) yield [old, now];
    }
  }
}

interface Group {
  readonly removed: PatchRow[];
  readonly added: PatchRow[];
  /** The row behind them. */
  readonly next: PatchRow | undefined;
}

/** Removed lines with the added ones behind them, up to each other row. */
function pairsOf(rows: readonly PatchRow[]): Group[] {
  const groups: Group[] = [];
  let [removed, added]: [PatchRow[], PatchRow[]] = [[], []];
  const close = (next: PatchRow | undefined) => {
    groups.push({ removed, added, next });
    [removed, added] = [[], []];
  };
  for (const row of rows) {
    if (row.kind === "removed") {
      if (added.length > 0) close(undefined);
      removed.push(row);
    } else if (row.kind === "added") added.push(row);
    else if (!isNoNewline(row) || added.length > 0) close(row);
  }
  close(undefined);
  return groups;
}

/** Between the two sides it says nothing that would be missed. */
function isNoNewline({ kind, text }: PatchRow): boolean {
  return kind === "note" && text.startsWith("\\");
}

function marked(text: string, start: number, end: number, role: "added" | "removed", paint: Paint): string {
  const parts = [
    [role, text.slice(0, start)],
    [`${role}Word`, text.slice(start, end)],
    [role, text.slice(end)],
  ] as const;
  return parts.map(([each, part]) => (part === "" ? "" : paint(each, part))).join("");
}

const signs = { context: " ", added: "+", removed: "-" } as const;

/** A row with its number and sign; a long one goes on below. */
function rowLines(row: PatchRow, texts: Texts, { width, digits, paint }: Size): string[] {
  const { kind, text, old, now } = row;
  if (kind === "hunk" || kind === "file" || kind === "note")
    return brokenLines(text, width).map((line) => paint(kind === "file" ? "strong" : "dim", line));
  const gutter = `${String(now ?? old ?? "").padStart(digits)} ${signs[kind]}`;
  const role = kind === "context" ? "dim" : kind;
  const lines = brokenLines(texts.get(row) ?? text, Math.max(4, width - digits - 3));
  return lines.map((line, at) =>
    `${paint(role, at === 0 ? gutter : " ".repeat(gutter.length))} ${line}`.trimEnd(),
  );
}

function sideLines(rows: readonly PatchRow[], texts: Texts, size: Size): string[] {
  const { width, paint, bar } = size;
  const half = Math.floor((width - 3) / 2);
  const cell = { ...size, width: half };
  const lines: string[] = [];
  const both = (left: readonly string[], right: readonly string[]) => {
    for (let at = 0; at < Math.max(left.length, right.length); at++)
      lines.push(`${padded(left[at] ?? "", half)} ${paint("dim", bar)} ${right[at] ?? ""}`.trimEnd());
  };
  for (const { removed, added, next } of pairsOf(rows)) {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      const [old, now] = [removed[at], added[at]];
      both(
        old === undefined ? [] : rowLines(old, texts, cell),
        now === undefined ? [] : rowLines(now, texts, cell),
      );
    }
    if (next?.kind === "context") {
      const before = {
        kind: next.kind,
        text: next.text,
        ...(next.old !== undefined && { old: next.old }),
      } as const;
      both(
        rowLines(before, new Map([[before, texts.get(next) ?? next.text]]), cell),
        rowLines(next, texts, cell),
      );
    } else if (next !== undefined) lines.push(...rowLines(next, texts, size));
  }
  return lines;
}
