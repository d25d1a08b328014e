// What a review shows and answers.

/** The state of a hunk. A hunk that is `superseded` or `changed-since` cannot be undone on its own. */
export type HunkState = "open" | "kept" | "undone" | "superseded" | "changed-since";

/** A line of a hunk. */
export interface HunkLine {
  /** Whether the line is new, gone, or was there all the time. */
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
  /** Its state. */
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
  /** Whether the file as a whole is new, gone or changed. */
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

/** A turn of the agent that has ended. */
export interface PastTurn {
  /** From 1. */
  readonly number: number;
  /** The text that `beginTurn` was given. */
  readonly label: string | undefined;
  /** The things that undo does not take back, as sentences: commits, installs, new repositories, folders that could not be read. */
  readonly notes: readonly string[];
}

/** A turn of the agent that has just ended. */
export interface ReviewTurn extends PastTurn {
  /** Its changes, as they were when the turn ended. */
  readonly changes: Changes;
}

/** The outcome of an undo or a redo for one file. */
export interface FileOutcome {
  /** Absolute. */
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
  /** The effects that stay, as sentences. */
  readonly notes: readonly string[];
}

/** The hunks to undo, by their ids, or everything that is open of a turn. */
export type UndoTarget = { readonly hunks: readonly string[] } | { readonly turn: number };

/** Follows the changes of a session. Made by `openReview`. */
export interface Review extends AsyncDisposable {
  /** The files that are not covered and why, as sentences. It can grow with every turn. */
  readonly notCovered: readonly string[];
  /** The turns that have ended, the oldest first. Those of earlier processes too, if the session has a name. */
  readonly turns: readonly PastTurn[];
  /** The ids of the undos that can be redone, the oldest first. */
  readonly undone: readonly number[];
  /**
   * Takes the snapshot before a turn. What changes from here to `endTurn` counts as the agent's.
   *
   * @param label - What the turn is about, such as the prompt.
   * @throws {Error} When a turn is running.
   */
  beginTurn(label?: string): Promise<void>;
  /**
   * Takes the snapshot after a turn, and gives what changed.
   *
   * @throws {Error} When no turn is running.
   */
  endTurn(): Promise<ReviewTurn>;
  /**
   * Remembers a file as it is before it is changed. Call it before an ignored file is written; other files are covered
   * anyway.
   *
   * @param path - An absolute path.
   * @returns Whether changes of the file in this turn can be undone.
   */
  protect(path: string): Promise<boolean>;
  /**
   * The changes of the agent that are in the files, and those that were kept or undone. Lines that the user changed are not
   * part of them. While a turn runs, it shows the state before the turn.
   *
   * @param options - `turns` gives the changes of these turns only, as if the others were the user's.
   */
  changes(options?: { readonly turns?: readonly number[] }): Promise<Changes>;
  /**
   * Marks hunks as wanted. They are not undone with their turn any more.
   *
   * @param hunks - The ids of hunks.
   * @returns How many hunks were kept. Those that changed since they were shown are not.
   * @throws {TypeError} When there never was a hunk with such an id.
   */
  keep(hunks: readonly string[]): Promise<number>;
  /**
   * Takes changes back. What the user changed in the same files stays; where that is not possible, the file is left alone and
   * the result says why.
   *
   * @param target - Hunks by their ids, or a turn by its number: all of its changes that are open.
   * @throws {Error} When a turn is running.
   * @throws {TypeError} When there is no such hunk or turn.
   */
  undo(target: UndoTarget): Promise<UndoResult>;
  /**
   * Puts back what an undo took away.
   *
   * @param result - What `undo` gave. It can be redone once; undo again after that.
   * @throws {Error} When a turn is running, or this undo was redone already.
   */
  redo(result: Pick<UndoResult, "id">): Promise<UndoResult>;
  /** What to tell the agent with the next message about what was undone. Undefined when there is nothing. Given once. */
  takeReport(): string | undefined;
  /** Waits for what is under way. The stored contents stay until the room is needed. */
  close(): Promise<void>;
}
