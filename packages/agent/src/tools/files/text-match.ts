// Where a text is in a file: exactly, or as it is after what models get wrong without meaning it (line ends,
// trailing space, typographic quotes and dashes, odd spaces). A tolerant match is mapped back to the offsets in
// the original, so that nothing outside of it changes.

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Matches {
  readonly spans: readonly Span[];
  /** Not character by character. */
  readonly isTolerant: boolean;
}

/** All places, not overlapping, of the strictest kind that has any. `wanted` is not empty. */
export function findMatches(text: string, wanted: string): Matches {
  const exact = allOf(text, wanted).map((start) => ({ start, end: start + wanted.length }));
  if (exact.length > 0) return { spans: exact, isTolerant: false };
  const lineEnds = (character: string) => character;
  const byLineEnds = matchesIn(plain(text, lineEnds, false), plain(wanted, lineEnds, false).text);
  if (byLineEnds.length > 0) return { spans: byLineEnds, isTolerant: false };
  const tolerant = matchesIn(plain(text, usual, true), plain(wanted, usual, true).text);
  return { spans: tolerant, isTolerant: true };
}

interface PlainText {
  readonly text: string;
  /** For each character: where it begins and ends in the original. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** One character for each, so that offsets can be mapped; line ends become one too. */
function plain(original: string, mapped: (character: string) => string, trimsLines: boolean): PlainText {
  const starts = new Uint32Array(original.length);
  const ends = new Uint32Array(original.length);
  const characters: string[] = [];
  let kept = 0;
  /** How many characters at the end are blanks that a line end would drop. */
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
  // only blanks were asked for, and blanks at the end of a line do not count here
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

/** As it is on a keyboard. */
export function usual(character: string): string {
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
