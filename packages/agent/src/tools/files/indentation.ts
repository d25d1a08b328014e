// Finds lines that differ only in their indentation, and gives new lines the indentation of the file.

import { type Span, toKeyboard } from "./text-match.ts";

export interface IndentedMatch {
  /** Where whole lines match, counted from 1. */
  readonly lines: readonly number[];
  /** The only place and its new text. Undefined when there are several, or no rule that leads from one indentation to the other. */
  readonly change?: Span & { readonly newText: string };
}

/** The new text has the line ends of `newText`. */
export function matchIndented(text: string, wanted: string, newText: string): IndentedMatch {
  const sought = linesOf(wanted);
  const file = linesOf(text);
  const starts = startsOf(file, sought);
  const lines = starts.map((start) => start + 1);
  const [start, another] = starts;
  if (start === undefined || another !== undefined) return { lines };
  const found = file.slice(start, start + sought.length);
  const indents = indentsOf(sought, found);
  const step = indents && stepOf(indents, file, linesOf(newText));
  const indented = step && reindented(newText, indents, step);
  const [first, last] = [found[0], found.at(-1)];
  if (indented === undefined || first === undefined || last === undefined) return { lines };
  const end = wanted.endsWith("\n") ? last.next : last.end;
  return { lines, change: { start: first.start, end, newText: indented } };
}

interface Line {
  readonly start: number;
  /** Without the line end. */
  readonly end: number;
  /** Where the next line starts. */
  readonly next: number;
  readonly indent: string;
  /** What has to be equal. */
  readonly key: string;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf("\n", start);
    const next = feed < 0 ? text.length : feed + 1;
    const end = feed < 0 ? next : feed > start && text[feed - 1] === "\r" ? feed - 1 : feed;
    const line = text.slice(start, end);
    const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
    lines.push({ start, end, next, indent, key: toKeyboard(line).trim() });
    start = next;
  }
  return lines;
}

function startsOf(file: readonly Line[], sought: readonly Line[]): number[] {
  // blank lines alone are no place
  const anchor = sought.findIndex(({ key }) => key !== "");
  if (anchor < 0) return [];
  const starts: number[] = [];
  for (let at = 0; at + sought.length <= file.length; at += 1) {
    if (file[at + anchor]?.key !== sought[anchor]?.key) continue;
    if (sought.every(({ key }, i) => file[at + i]?.key === key)) starts.push(at);
  }
  return starts;
}

/** The indentation in the file by the one that was written; undefined when one stands for two. */
type Indents = ReadonlyMap<string, string>;

function indentsOf(sought: readonly Line[], found: readonly Line[]): Indents | undefined {
  const indents = new Map<string, string>();
  for (const [i, { indent: written, key }] of sought.entries()) {
    const there = found[i]?.indent ?? "";
    if (key === "") continue;
    if ((indents.get(written) ?? there) !== there) return undefined;
    indents.set(written, there);
  }
  return indents;
}

/** What stands in the file for a piece of written indentation. */
interface IndentStep {
  readonly written: string;
  readonly there: string;
}

const same: IndentStep = { written: " ", there: " " };

/** By the lines that match, else by what the file and the new text use. */
function stepOf(indents: Indents, file: readonly Line[], newLines: readonly Line[]): IndentStep {
  const pairs = [...indents].sort(([one], [other]) => one.length - other.length);
  const steps = pairs.flatMap(([written, there], i): IndentStep[] => {
    const [before, thereBefore] = pairs[i - 1] ?? [written, there];
    if (written === before || there === thereBefore) return [];
    if (!written.startsWith(before) || !there.startsWith(thereBefore)) return [];
    return [{ written: written.slice(before.length), there: there.slice(thereBefore.length) }];
  });
  const [smallest] = steps.sort((one, other) => one.written.length - other.written.length);
  if (smallest !== undefined) return reduced(smallest);
  const hasTabs = (lines: readonly Line[]) => lines.some(({ indent }) => indent.startsWith("\t"));
  const writesTabs = hasTabs(newLines) || pairs.some(([written]) => written.includes("\t"));
  const usesTabs = pairs.some(([, there]) => there.includes("\t")) || (hasTabs(file) && !usesSpaces(file));
  const [width, newWidth] = [usualWidth(file), usualWidth(newLines)];
  if (writesTabs && usesTabs) return same;
  if (writesTabs) return { written: "\t", there: " ".repeat(width ?? 4) };
  if (usesTabs) return { written: " ".repeat(newWidth ?? 4), there: "\t" };
  if (width === undefined || newWidth === undefined || width === newWidth) return same;
  return { written: " ".repeat(newWidth), there: " ".repeat(width) };
}

function usesSpaces(lines: readonly Line[]): boolean {
  return lines.some(({ indent }) => indent.startsWith("  "));
}

/** By how many spaces a line is most often deeper than the one before it. One space is alignment, as in comments. */
function usualWidth(lines: readonly Line[]): number | undefined {
  const counts = new Map<number, number>();
  let before = lines[0]?.indent.length ?? 0;
  for (const { indent, key } of lines) {
    if (key === "" || indent.includes("\t")) continue;
    const more = indent.length - before;
    before = indent.length;
    if (more > 1) counts.set(more, (counts.get(more) ?? 0) + 1);
  }
  const [usual] = [...counts].sort(([one, often], [other, oftener]) => oftener - often || one - other);
  return usual?.[0];
}

/** Four spaces for two tabs are two for one. */
function reduced({ written, there }: IndentStep): IndentStep {
  const isPlain = [written, there].every((piece) => new Set(piece).size === 1);
  const by = isPlain ? gcd(written.length, there.length) : 1;
  return { written: written.slice(0, written.length / by), there: there.slice(0, there.length / by) };
}

function gcd(one: number, other: number): number {
  return other === 0 ? one : gcd(other, one % other);
}

function reindented(newText: string, indents: Indents, step: IndentStep): string | undefined {
  const lines: string[] = [];
  for (const { start, end, next, indent, key } of linesOf(newText)) {
    const there = key === "" ? "" : indentOf(indent, indents, step);
    if (there === undefined) return undefined;
    lines.push(there + newText.slice(key === "" ? end : start + indent.length, next));
  }
  return lines.join("");
}

function indentOf(indent: string, indents: Indents, step: IndentStep): string | undefined {
  const known = [...indents.keys()].sort((one, other) => other.length - one.length);
  const base = known.find((each) => indent.startsWith(each));
  if (base !== undefined) return (indents.get(base) ?? "") + translated(indent.slice(base.length), step);
  // further left than all lines that match
  const least = known.at(-1) ?? "";
  const there = indents.get(least) ?? "";
  const less = translated(least.slice(indent.length), step);
  return least.startsWith(indent) && there.endsWith(less)
    ? there.slice(0, there.length - less.length)
    : undefined;
}

/** What is left after whole steps is alignment, and stays. */
function translated(piece: string, { written, there }: IndentStep): string {
  let rest = piece;
  let result = "";
  for (; rest.startsWith(written); rest = rest.slice(written.length)) result += there;
  return result + rest;
}
