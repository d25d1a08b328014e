// What watches one folder for a review.

import type { BytePath, Hash, Version } from "./version.ts";

/** A path that differs between the start and the end of a turn. */
export interface PathChange {
  readonly path: BytePath;
  readonly before: Version;
  readonly after: Version;
}

/** What a turn did to a folder. */
export interface FolderChanges {
  readonly files: readonly PathChange[];
  /** What it did that cannot be undone, as sentences. */
  readonly notes: readonly string[];
}

/** Compares one folder at both ends of a turn. */
export interface Source {
  readonly root: string;
  readonly hash: Hash;
  /** What is not covered, as sentences. */
  readonly notCovered: readonly string[];
  /** Repositories inside it, which need a source of their own. */
  readonly nested: readonly string[];
  begin(): Promise<void>;
  end(): Promise<FolderChanges>;
  /** Whether changes of the file at this path are seen. */
  covers(path: BytePath): Promise<boolean>;
  /** A content that is kept, by its name. */
  content(id: string): Promise<Buffer>;
}

/** The bounds of what is stored. */
export interface ReviewLimits {
  /** Untracked files above this size are left out. 10 MiB unless set. */
  readonly untrackedFileBytes: number;
  /** More untracked files than this are left out. 2,000 unless set. */
  readonly untrackedFiles: number;
  /** Tracked files above this size are left out. 100 MiB unless set. */
  readonly trackedFileBytes: number;
  /** Without git, and for ignored files: text files above this size are left out. 1 MiB unless set. */
  readonly textFileBytes: number;
  /** Without git, and for ignored files: all contents together. 64 MiB unless set. */
  readonly contentBytes: number;
  /** Without git: the number of files that are looked at. 20,000 unless set. */
  readonly files: number;
  /** The turns of one session with a name. What is more is not stored. 64 MiB unless set. */
  readonly turnBytes: number;
  /** What all sessions of a workspace may store together. The oldest are removed first. 512 MiB unless set. */
  readonly storedBytes: number;
}

export const defaultLimits: ReviewLimits = {
  untrackedFileBytes: 10 * 2 ** 20,
  untrackedFiles: 2000,
  trackedFileBytes: 100 * 2 ** 20,
  textFileBytes: 2 ** 20,
  contentBytes: 64 * 2 ** 20,
  files: 20_000,
  turnBytes: 64 * 2 ** 20,
  storedBytes: 512 * 2 ** 20,
};

/** A size for people. */
export function shownSize(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.round(bytes / 2 ** 20)} MiB`;
}

/** `a, b, c and 7 more`. */
export function shownList(items: readonly string[], most = 3): string {
  const rest = items.length - most;
  return rest > 0 ? `${items.slice(0, most).join(", ")} and ${rest} more` : items.join(", ");
}
