// Entries on their way to the store.

import type { HeadState } from "../model/head.ts";
import type { StoredEntry } from "../model/store.ts";

/** An entry gets its number when it is written, so that one that is taken back leaves no gap. */
export interface Waiting extends StoredEntry {
  seq: number;
  text: string;
}

/** What is stored at once. */
export interface Batch {
  readonly entries: Waiting[];
  /** The characters of its entries. They are only counted while the store is behind. */
  chars: number;
  isSynced: boolean;
}

/** A batch that the store has not taken yet. If it fails, the very same is tried again: the store may have taken it. */
export interface GivenBatch extends Batch {
  readonly state: HeadState;
  isInFlight: boolean;
  /** Messages that are not to be part of it any more. */
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
