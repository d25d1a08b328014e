// The options and the interface of the SQLite store.

import type { Log } from "../../jsonrpc/connection-options.ts";
import type { SessionStore } from "../../model/store.ts";

/** The file and limits of a SQLite store. */
export interface SqliteStoreOptions {
  /** The absolute path of the database file. It and its directories are created if missing, for this user only. */
  readonly path: string;
  /** A store sees only the sessions of its tenant. Two tenants may use the same session id. Default "". */
  readonly tenant?: string | undefined;
  /**
   * "normal" (default): acknowledged writes survive a crash of the process; a power cut may lose the commits since the
   * last checkpoint, but never damages the file. "full": acknowledged writes survive a power cut too, and each commit
   * waits for the disk.
   */
  readonly durability?: "full" | "normal" | undefined;
  /** Whether to create a missing file. Default true. */
  readonly create?: boolean | undefined;
  /** The largest size of the file, in bytes; then writes reject with RequestError "unavailable". Default: no limit. */
  readonly maxBytes?: number | undefined;
  /** How long a write blocks this process while another one writes, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number | undefined;
  /** Receives warnings, for example about damaged sessions that `list` leaves out. */
  readonly log?: Log | undefined;
}

/** The limits of a search. */
export interface SearchOptions {
  /** The maximum number of results. Default 20. */
  readonly limit?: number | undefined;
  /** Only sessions of this working directory. */
  readonly cwd?: string | undefined;
}

/** A message that matches a search. */
export interface SearchHit {
  /** The session that contains the message. */
  readonly sessionId: string;
  /** The `seq` of the message's first entry. */
  readonly seq: number;
  /** A few words of the message around the match, on one line. */
  readonly snippet: string;
}

/** A damage that `verify` has found. */
export interface StoreProblem {
  /** The damaged session. Absent when the whole file is concerned. */
  readonly sessionId?: string;
  /** A description of the damage. */
  readonly problem: string;
}

/** A store of sessions in a SQLite file, with full-text search. */
export interface SqliteStore extends SessionStore, AsyncDisposable {
  /** Opens the file now instead of with the first call. After a failure the next call tries again. */
  open(): Promise<void>;
  /**
   * Finds prompts and agent messages with all the words, best match first. Case and accents are ignored, the last word
   * may be a prefix, and "quotedId words" must follow each other.
   */
  search(query: string, options?: SearchOptions): Promise<readonly SearchHit[]>;
  /** Reads everything and returns the damage; empty if there is none. */
  verify(): Promise<readonly StoreProblem[]>;
}
