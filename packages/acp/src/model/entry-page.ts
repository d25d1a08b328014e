// Keeps the entries of one append in memory, in as few objects as possible: the garbage collector moves and marks each.

import { optional } from "../base/objects.ts";
import type { StoredEntry } from "./store.ts";

export interface EntryPage {
  /** The number of the first entry. */
  readonly seq: number;
  /** The texts of all entries, and where each of them ends. */
  readonly text: string;
  readonly ends: readonly number[];
  readonly times: readonly number[];
  readonly formats: readonly number[];
  readonly kinds: readonly string[];
  readonly tags: readonly (string | undefined)[];
}

/** The page of at least one entry. */
export function entryPage(entries: readonly StoredEntry[]): EntryPage {
  const texts: string[] = [];
  const ends: number[] = [];
  const times: number[] = [];
  const formats: number[] = [];
  const kinds: string[] = [];
  const tags: (string | undefined)[] = [];
  let end = 0;
  for (const { text, time, format, kind, tag } of entries) {
    end += text.length;
    texts.push(text);
    ends.push(end);
    times.push(time);
    formats.push(format);
    kinds.push(kind);
    tags.push(tag);
  }
  return { seq: entries[0]?.seq ?? 0, text: texts.join(""), ends, times, formats, kinds, tags };
}

/** The entries from `fromSeq` on. */
export function* entriesOf(page: EntryPage, fromSeq: number): Generator<StoredEntry, void> {
  for (const [at, end] of page.ends.entries()) {
    const seq = page.seq + at;
    if (seq < fromSeq) continue;
    const text = page.text.slice(page.ends[at - 1] ?? 0, end);
    const { [at]: format = 0 } = page.formats;
    const { [at]: time = 0 } = page.times;
    const { [at]: kind = "" } = page.kinds;
    const { [at]: tag } = page.tags;
    yield { format, seq, time, kind, ...optional({ tag }), text };
  }
}
