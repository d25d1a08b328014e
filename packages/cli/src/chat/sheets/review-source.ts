// What a review sheet shows and asks for. A Review of @parley/review is one.

export interface ReviewSource {
  /** What is not covered and why, as sentences. */
  readonly notCovered: readonly string[];
  changes(): Promise<ReviewChanges>;
  /** Returns how many hunks were kept: one that has changed since it was shown is not. */
  keep(hunks: readonly string[]): Promise<number>;
  /** While the agent works, it waits. */
  undo(target: { readonly hunks: readonly string[] }): Promise<ReviewResult>;
  /** Puts back what an undo took away. */
  redo(result: Pick<ReviewResult, "id">): Promise<ReviewResult>;
}

export interface ReviewChanges {
  readonly files: readonly ReviewFile[];
  readonly added: number;
  readonly removed: number;
}

export interface ReviewFile {
  /** Absolute. */
  readonly path: string;
  readonly kind: "created" | "deleted" | "changed";
  readonly renamedFrom: string | undefined;
  readonly hunks: readonly ReviewHunk[];
  readonly added: number;
  readonly removed: number;
}

export interface ReviewHunk {
  readonly id: string;
  readonly kind: "lines" | "mode" | "file";
  readonly state: "open" | "kept" | "undone" | "superseded" | "changed-since";
  /** Why it cannot be undone, or what it does where there are no lines. */
  readonly about: string | undefined;
  readonly turns: readonly number[];
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly ReviewLine[];
  readonly added: number;
  readonly removed: number;
}

export interface ReviewLine {
  readonly kind: "context" | "removed" | "added";
  readonly text: string;
  readonly ending: "\n" | "\r\n" | "";
}

export interface ReviewResult {
  readonly id: number;
  readonly files: readonly {
    readonly path: string;
    readonly outcome: "undone" | "redone" | "merged" | "refused";
    readonly reason: string | undefined;
  }[];
  readonly notes: readonly string[];
}
