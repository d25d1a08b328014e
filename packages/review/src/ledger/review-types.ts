// What a review shows and answers.

/** What became of a hunk. A hunk that is `superseded` or `changed-since` cannot be undone on its own. */
export type HunkState = "open" | "kept" | "undone" | "superseded" | "changed-since";

/** A line of a hunk. */
export interface HunkLine {
  readonly kind: "context" | "removed" | "added";
  /** Without its ending. Bytes that are not UTF-8 are replaced. */
  readonly text: string;
  /** `"\n"`, `"\r\n"`, or nothing for a last line without one. */
  readonly ending: "\n" | "\r\n" | "";
}

/** One change that can be kept or undone. */
export interface Hunk {
  /** Names the hunk for `keep` and `undo`. It stays the same as long as the agent does not change these lines again. */
  readonly id: string;
  /** Lines, the permission to run the file, or the whole file where it has no lines (binary files, links). */
  readonly kind: "lines" | "mode" | "file";
  readonly state: HunkState;
  /** Why it cannot be undone, or what it does where there are no lines. */
  readonly about: string | undefined;
  /** The turns that made it, in order, from 1. */
  readonly turns: readonly number[];
  /** The number of its first line without the change, from 1. */
  readonly oldStart: number;
  /** The number of its first line now, from 1. */
  readonly newStart: number;
  /** The lines, with up to three unchanged ones around them. Empty for `mode` and `file`, and for empty files. */
  readonly lines: readonly HunkLine[];
  /** How many lines it adds. */
  readonly added: number;
  /** How many lines it removes. */
  readonly removed: number;
}

/** A file that the agent changed. */
export interface FileChange {
  /** Absolute. Bytes that are not UTF-8 are replaced. */
  readonly path: string;
  /** What happened to the file as a whole. */
  readonly kind: "created" | "deleted" | "changed";
  /** The path that the file had before, if it looks renamed. */
  readonly renamedFrom: string | undefined;
  /** The hunks in the order of the file. */
  readonly hunks: readonly Hunk[];
  /** How many lines it gained. */
  readonly added: number;
  /** How many lines it lost. */
  readonly removed: number;
}

/** The changes of a turn, or of several. */
export interface Changes {
  /** Sorted by path. */
  readonly files: readonly FileChange[];
  /** All added lines that are neither kept nor undone. */
  readonly added: number;
  /** All removed lines that are neither kept nor undone. */
  readonly removed: number;
}

/** One turn of the agent. */
export interface Turn {
  /** From 1. */
  readonly number: number;
  /** What `beginTurn` was given. */
  readonly label: string | undefined;
  /** What it changed, as it was when the turn ended. */
  readonly changes: Changes;
  /** What it did that undo does not take back, as sentences: commits, installs, new repositories. */
  readonly notes: readonly string[];
}

/** What became of one file in an undo or a redo. */
export interface FileOutcome {
  readonly path: string;
  /** `merged` means that the user's own changes of the file stayed. */
  readonly outcome: "undone" | "redone" | "merged" | "refused";
  /** Why, if it was refused. */
  readonly reason: string | undefined;
}

/** The answer to an undo or a redo. */
export interface UndoResult {
  /** Names it for `redo`. */
  readonly id: number;
  /** A file can be named twice: some of its hunks undone, some refused. */
  readonly files: readonly FileOutcome[];
  /** What stays, as sentences. */
  readonly notes: readonly string[];
}
