// Keeps the entries of a session in memory, in one page for each append.

import { optional } from "../base/objects.ts";
import type { StoredEntry } from "../model/store.ts";
import type { WantedRange } from "./store-rules.ts";

/** The entries of one append, in few objects, because the garbage collector moves and marks each object. */
export interface EntryPage {
  /** The number of the first entry. */
  readonly seq: number;
  /** The texts of all entries, joined. `ends` says where each of them ends. */
  readonly text: string;
  readonly ends: readonly number[];
  readonly times: readonly number[];
  readonly formats: readonly number[];
  readonly kinds: readonly string[];
  readonly tags: readonly (string | undefined)[];
  /** The last number that each entry covers. Undefined if each covers only its own. */
  readonly throughs: readonly (number | undefined)[] | undefined;
}

/** Makes a page of one or more entries. */
export function entryPage(entries: readonly StoredEntry[]): EntryPage {
  let end = 0;
  const ends: number[] = [];
  for (const { text } of entries) {
    end += text.length;
    ends.push(end);
  }
  return {
    seq: entries[0]?.seq ?? 0,
    text: entries.map(({ text }) => text).join(""),
    ends,
    times: entries.map(({ time }) => time),
    formats: entries.map(({ format }) => format),
    kinds: entries.map(({ kind }) => kind),
    tags: entries.map(({ tag }) => tag),
    throughs: entries.some(({ through }) => through !== undefined)
      ? entries.map(({ through }) => through)
      : undefined,
  };
}

/** The entries of a page that have or cover a number of the range. */
export function* entriesOf(page: EntryPage, from: number, to: number): Generator<StoredEntry, void> {
  let { seq } = page;
  for (const [at, end] of page.ends.entries()) {
    const through = page.throughs?.[at];
    const own = seq;
    seq = (through ?? seq) + 1;
    if (own > to) return;
    if (seq <= from) continue;
    const text = page.text.slice(page.ends[at - 1] ?? 0, end);
    const { [at]: format = 0 } = page.formats;
    const { [at]: time = 0 } = page.times;
    const { [at]: kind = "" } = page.kinds;
    const { [at]: tag } = page.tags;
    yield { format, seq: own, ...optional({ through }), time, kind, ...optional({ tag }), text };
  }
}

/** The pages with the entries that end at or before a number, for a fork, which shares them. */
export function pagesUpTo(
  pages: readonly EntryPage[],
  last: number,
): { readonly pages: EntryPage[]; readonly lastSeq: number } {
  const kept: EntryPage[] = [];
  let lastSeq = 0;
  for (const [at, page] of pages.entries()) {
    if (page.seq > last) break;
    const next = pages[at + 1];
    if (next !== undefined && next.seq <= last + 1) {
      kept.push(page);
      lastSeq = next.seq - 1;
      continue;
    }
    const whole = [...entriesOf(page, 1, Number.POSITIVE_INFINITY)];
    const within = whole.filter(({ seq, through = seq }) => through <= last);
    const end = within.at(-1);
    if (end === undefined) break;
    kept.push(within.length === whole.length ? page : entryPage(within));
    lastSeq = end.through ?? end.seq;
  }
  return { pages: kept, lastSeq };
}

export function* pagesForwards(
  pages: readonly EntryPage[],
  { from, to, size }: WantedRange,
): Generator<StoredEntry[], void> {
  let read: StoredEntry[] = [];
  for (let at = firstPage(pages, from); at < pages.length; at++) {
    const page = pages[at];
    if (page === undefined || page.seq > to) break;
    for (const entry of entriesOf(page, from, to)) {
      read.push(entry);
      if (read.length < size) continue;
      yield read;
      read = [];
    }
  }
  if (read.length > 0) yield read;
}

export function* pagesBackwards(
  pages: readonly EntryPage[],
  { from, to, size }: WantedRange,
): Generator<StoredEntry[], void> {
  let read: StoredEntry[] = [];
  for (const page of pages.toReversed()) {
    if (page.seq > to) continue;
    const entries = [...entriesOf(page, from, to)];
    if (entries.length === 0) break;
    read = [...entries, ...read];
    while (read.length >= size) yield read.splice(read.length - size);
  }
  if (read.length > 0) yield read;
}

/** The index of the page that has the entry `seq`, by bisection. */
function firstPage(pages: readonly EntryPage[], seq: number): number {
  let low = 0;
  let high = pages.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((pages[middle]?.seq ?? 0) <= seq) low = middle;
    else high = middle;
  }
  return low;
}
