// Finds a text in a file, exactly or tolerating differences that models make, or else the most similar lines.

export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Matches {
  readonly spans: readonly Span[];
  readonly isTolerant: boolean;
}

/** All non-overlapping matches of the strictest kind that has any. `wanted` is not empty. */
export function findMatches(text: string, wanted: string): Matches {
  const exact = allOf(text, wanted).map((start) => ({ start, end: start + wanted.length }));
  if (exact.length > 0) return { spans: exact, isTolerant: false };
  const lineEnds = (character: string) => character;
  const byLineEnds = matchesIn(plain(text, lineEnds, false), plain(wanted, lineEnds, false).text);
  if (byLineEnds.length > 0) return { spans: byLineEnds, isTolerant: false };
  const tolerant = matchesIn(plain(text, toAscii, true), plain(wanted, toAscii, true).text);
  return { spans: tolerant, isTolerant: true };
}

interface PlainText {
  readonly text: string;
  /** Start and end of each character in the original, so that a tolerant match changes nothing around it. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Normalises each character, and each line end, to one character. */
function plain(original: string, mapped: (character: string) => string, trimsLines: boolean): PlainText {
  const starts = new Uint32Array(original.length);
  const ends = new Uint32Array(original.length);
  const characters: string[] = [];
  let kept = 0;
  /** Number of blanks at the end of the current line. */
  let blanks = 0;
  const drop = () => {
    if (!trimsLines) return;
    kept -= blanks;
    characters.length = kept;
    blanks = 0;
  };
  for (let at = 0; at < original.length; at += 1) {
    const isCrlf = original[at] === "\r" && original[at + 1] === "\n";
    const character = isCrlf ? "\n" : mapped(original[at] ?? "");
    if (character === "\n") drop();
    blanks = character === " " || character === "\t" ? blanks + 1 : 0;
    characters[kept] = character;
    starts[kept] = at;
    if (isCrlf) at += 1;
    ends[kept] = at + 1;
    kept += 1;
  }
  drop();
  return { text: characters.join(""), starts, ends };
}

function matchesIn(file: PlainText, wanted: string): Span[] {
  // only blanks were wanted, which do not count here
  if (wanted === "") return [];
  return allOf(file.text, wanted).map((start) => ({
    start: file.starts[start] ?? 0,
    end: file.ends[start + wanted.length - 1] ?? 0,
  }));
}

function allOf(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
}

/** Replaces typographic characters by their keyboard equivalents. */
export function toKeyboard(text: string): string {
  // most lines have none
  return /[\u0080-\uffff]/.test(text) ? Array.from(text, toAscii).join("") : text;
}

function toAscii(character: string): string {
  if (character < "\u0080") return character;
  if (/[\u2018\u2019\u201a\u201b\u2032]/.test(character)) return "'";
  if (/[\u201c\u201d\u201e\u201f\u2033]/.test(character)) return '"';
  if (/[\u2010-\u2015\u2212]/.test(character)) return "-";
  if (/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/.test(character)) return " ";
  return character;
}

/** 1-based. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

const maxComparisons = 2_000_000;
const maxShownLines = 30;

interface Block {
  /** 1-based. */
  readonly from: number;
  readonly lines: readonly string[];
}

/** Undefined when no lines are similar. */
export function nearestBlock(text: string, wanted: string): Block | undefined {
  const lines = text.split(/\r?\n/);
  const keys = lines.map(keyOf);
  const sought = wanted.split(/\r?\n/).map(keyOf);
  while (sought.length > 1 && sought[0] === "") sought.shift();
  while (sought.length > 1 && sought.at(-1) === "") sought.pop();
  const size = Math.min(sought.length, lines.length, Math.max(1, Math.floor(maxComparisons / lines.length)));
  let best = { score: 0, at: 0 };
  for (let at = 0; at + size <= lines.length; at += 1) {
    let score = 0;
    for (let i = 0; i < size; i += 1) score += likeness(keys[at + i] ?? "", sought[i] ?? "");
    if (score > best.score) best = { score, at };
  }
  // at least a third of the lines in common
  if (best.score < size / 3) return undefined;
  return { from: best.at + 1, lines: lines.slice(best.at, best.at + Math.min(size, maxShownLines)) };
}

function keyOf(line: string): string {
  return toKeyboard(line).trim().replace(/\s+/g, " ");
}

/** The share of common words, from 0 to 1; 0 for an empty line. */
function likeness(one: string, other: string): number {
  if (one === "" || other === "") return 0;
  if (one === other) return 1;
  const words = new Set(one.match(/\w+/g) ?? []);
  const others = other.match(/\w+/g) ?? [];
  if (words.size === 0 || others.length === 0) return 0;
  const common = others.filter((word) => words.has(word)).length;
  return (common / Math.max(words.size, others.length)) * 0.9;
}
