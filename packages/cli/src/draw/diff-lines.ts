// Draws changes of files, in questions, transcripts and reviews: below each other, or side by side where there is room.

import type { Paint } from "../terminal/paint.ts";
import type { Drawing } from "./draw-options.ts";
import { highlighted, languageOf } from "./highlight.ts";
import { markedPart, onGround } from "./line-ground.ts";
import type { PatchRow } from "./patch-rows.ts";
import { brokenLines, clipped, counted, padded, widthOf } from "./text-lines.ts";
import { changedPart } from "./word-marks.ts";

/** From here on, both sides have room for code. */
const sideBySideWidth = 120;
const foldedLines = 40;

export interface DiffLook {
  /** For its syntax. */
  readonly path?: string | undefined;
  readonly showsFiles: boolean;
  /** So many lines are shown, if it is folded. Default 40. */
  readonly most?: number;
}

/** Folded: the first lines. */
export function diffLines(rows: readonly PatchRow[], look: DiffLook, drawing: Drawing): string[] {
  const { width, paint, marks, isExpanded } = drawing;
  const most = isExpanded ? Number.POSITIVE_INFINITY : (look.most ?? foldedLines);
  const seen = seenRows(look.showsFiles ? rows : rows.filter(({ kind }) => kind !== "file"), marks.more);
  const digits = String(seen.reduce((most, { old = 0, now = 0 }) => Math.max(most, old, now), 0)).length;
  const sides =
    width >= sideBySideWidth && Number.isFinite(width) && seen.some(({ kind }) => kind === "removed");
  const lines: string[] = [];
  let done = 0;
  for (const block of blocksOf(seen)) {
    if (lines.length >= most) break;
    // a block may have far more rows than are shown
    const shown = block.slice(0, most - lines.length);
    const texts = colouredTexts(shown, look.path, paint);
    const size = { width, digits, paint, bar: marks.bar, ground: groundOf(shown, paint) };
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

/** Lines have numbers: of the header of a hunk, only its place in the code is shown, and a gap before all but the first. */
function seenRows(rows: readonly PatchRow[], gap: string): PatchRow[] {
  let isFirst = true;
  return rows.flatMap((row): PatchRow[] => {
    if (row.kind === "file") isFirst = true;
    if (row.kind !== "hunk") return [row];
    const place = row.text.replace(/^@@ [^@]*@@ ?/, "").trim();
    const text = isFirst ? place : `${gap} ${place}`.trimEnd();
    isFirst = false;
    return text === "" ? [] : [{ ...row, text }];
  });
}

interface Size {
  readonly width: number;
  readonly digits: number;
  readonly paint: Paint;
  readonly bar: string;
  /** So wide is the background of changed lines, as far as there is room. */
  readonly ground: number;
}

const widestGround = 200;

/** That of the widest changed line, so that the lines of a block end below each other. Without colours there is none. */
function groundOf(rows: readonly PatchRow[], paint: Paint): number {
  if (paint("addedLine", "x") === "x") return 0;
  return rows.reduce((most, { kind, text }) => {
    if (kind !== "added" && kind !== "removed") return most;
    return Math.max(most, text.length > widestGround ? widestGround : widthOf(text));
  }, 0);
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

/** All lines are coloured by their syntax; the words that differ are marked. */
function colouredTexts(rows: readonly PatchRow[], path: string | undefined, paint: Paint): Texts {
  const texts = new Map<PatchRow, string>();
  const language = path === undefined ? undefined : languageOf(path);
  for (const side of ["removed", "added"] as const) {
    const own = rows.filter(({ kind }) => kind === side || kind === "context");
    const coloured = highlighted(own.map(({ text }) => text).join("\n"), language, paint);
    for (const [at, row] of own.entries()) {
      texts.set(row, coloured.length === own.length ? (coloured[at] ?? "") : row.text);
    }
  }
  for (const [old, now] of changedPairs(rows)) {
    const part = changedPart(old.text, now.text);
    if (part === undefined) continue;
    const mark = (row: PatchRow, end: number, role: "removedWord" | "addedWord"): void => {
      texts.set(row, markedPart(texts.get(row) ?? row.text, part.start, end, role, paint));
    };
    mark(old, part.oldEnd, "removedWord");
    mark(now, part.newEnd, "addedWord");
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

const signs = { context: " ", added: "+", removed: "-" } as const;

/** A row with its number and sign; a long one goes on below. */
function rowLines(row: PatchRow, texts: Texts, { width, digits, paint, ground }: Size): string[] {
  const { kind, text, old, now } = row;
  if (kind === "hunk" || kind === "file" || kind === "note")
    return brokenLines(text, width).map((line) => paint(kind === "file" ? "strong" : "dim", line));
  const gutter = `${String(now ?? old ?? "").padStart(digits)} ${signs[kind]}`;
  const role = kind === "context" ? "dim" : kind;
  const room = Math.max(4, width - digits - 3);
  const lines = brokenLines(texts.get(row) ?? text, room).map(
    (line, at) => `${paint(role, at === 0 ? gutter : " ".repeat(gutter.length))} ${line}`,
  );
  if (kind === "context") return lines.map((line) => line.trimEnd());
  const whole = Math.min(room, ground) + gutter.length + 1;
  const under = kind === "added" ? "addedLine" : "removedLine";
  return lines.map((line) => onGround(padded(line.trimEnd(), whole), under, paint).trimEnd());
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
