// Entries on their way into the file: one flat object for each, because an append may have hundreds.

import type { StoredEntry } from "../../model/store.ts";

/** An entry to be stored. It is copied at once, and `prepareEntry` fills in the rest before the file is locked. */
export interface NewEntry {
  readonly format: number;
  readonly seq: number;
  readonly through: number | undefined;
  readonly time: number;
  readonly kind: string;
  readonly tag: string | undefined;
  readonly text: string;
  crc: number;
  body: string;
  blobs: string | null;
  longTexts: readonly { readonly hash: string; readonly text: string }[];
}

/** One for all, because few entries have long texts. */
const noTexts: NewEntry["longTexts"] = [];

/** Copies the entries of a caller, who may change them after the call. */
export function newEntries(entries: readonly StoredEntry[]): NewEntry[] {
  return entries.map(({ format, seq, through, time, kind, tag, text }) => ({
    format,
    seq,
    through,
    time,
    kind,
    tag,
    text,
    crc: 0,
    body: text,
    blobs: null,
    longTexts: noTexts,
  }));
}
