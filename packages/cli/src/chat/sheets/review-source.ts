// What a review sheet shows and asks for. A Review of @parley/review is one.

import type { Changes, UndoResult } from "@parley/review";

export type ReviewChanges = Changes;
export type ReviewResult = UndoResult;

export interface ReviewSource {
  /** The files that are not covered and why, as sentences. */
  readonly notCovered: readonly string[];
  changes(): Promise<ReviewChanges>;
  /** Returns how many hunks were kept: one that has changed since it was shown is not. */
  keep(hunks: readonly string[]): Promise<number>;
  /** While the agent works, it waits. */
  undo(target: { readonly hunks: readonly string[] }): Promise<ReviewResult>;
  /** Puts back what an undo took away. */
  redo(result: Pick<ReviewResult, "id">): Promise<ReviewResult>;
}
