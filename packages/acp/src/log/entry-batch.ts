// Entries on their way to the store.

import type { HeadState } from "../model/head.ts";
import type { StoredEntry } from "../model/store.ts";

/** An entry that waits. It gets its number when it is written, so that an entry that is taken back leaves no gap. */
export interface Waiting extends StoredEntry {
  seq: number;
  text: string;
}

export type EntryContent = Pick<StoredEntry, "kind" | "tag" | "text">;

/** Entries that are stored with one append. */
export interface Batch {
  readonly entries: Waiting[];
  /** The number of characters of its entries. They are counted only while a write runs or has failed. */
  chars: number;
  isSynced: boolean;
}

/** A batch that is being written. If the write fails, the same batch is tried again, because the store may have taken it. */
export interface GivenBatch extends Batch {
  readonly state: HeadState;
  isInFlight: boolean;
  /** The ids of messages that were taken back meanwhile. */
  readonly takenBack: string[];
}

export function newBatch(): Batch {
  return { entries: [], chars: 0, isSynced: false };
}

export function isEmpty({ entries, isSynced }: Batch): boolean {
  return entries.length === 0 && !isSynced;
}

export function charsOf({ entries }: Batch): number {
  return entries.reduce((sum, { text }) => sum + text.length, 0);
}

export function isMessage({ kind, text }: Waiting, messageId: string): boolean {
  // as: written by append
  return (
    (kind === "prompt" || kind === "inbox") &&
    (JSON.parse(text) as { messageId: string }).messageId === messageId
  );
}
