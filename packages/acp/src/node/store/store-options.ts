// What callers see of the store on SQLite.

import type { Log } from "../../jsonrpc/log.ts";
import type { SessionStore } from "../../model/store.ts";

export interface SqliteStoreOptions {
  /** The database file; it and its directories are made where they are missing, for this user alone. */
  readonly path: string;
  /**
   * "normal" (default): what was acknowledged survives the death of the process; a power cut may lose the
   * commits since the last checkpoint and leaves the file sound. "full": a power cut loses nothing either,
   * and each commit waits for the disk.
   */
  readonly durability?: "full" | "normal";
  /** Default true. With false a missing file is an error. */
  readonly create?: boolean;
  /** The file stays below; past it writes reject with RequestError -32067. Default: as large as the disk allows. */
  readonly maxBytes?: number;
  /** How long a write waits, and this process with it, for the writes of another. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Told about sessions that a list has to leave out, since their records are damaged. */
  readonly log?: Log;
}

export interface SearchOptions {
  /** Default 20. */
  readonly limit?: number;
  /** Only sessions of this working directory. */
  readonly cwd?: string;
}

export interface SearchHit {
  readonly sessionId: string;
  /** The first entry of the message. */
  readonly seq: number;
  /** A few words of the message around the match, on one line. */
  readonly snippet: string;
}

export interface StoreProblem {
  /** Absent when it is the file as a whole. */
  readonly sessionId?: string;
  readonly problem: string;
}

export interface SqliteStore extends SessionStore {
  /** Opens the file now; without it the first call does. A failure is not final: the next call tries again. */
  open(): Promise<void>;
  /**
   * Prompts and agent messages that have all the words, best first. Words match regardless of case and
   * accents, the last one also as a beginning; "words in quotes" must follow each other.
   */
  search(query: string, options?: SearchOptions): Promise<readonly SearchHit[]>;
  /** Reads everything and says what is damaged; empty is well. */
  verify(): Promise<readonly StoreProblem[]>;
}
