// The interface of session stores.

import type { Entry } from "./entry.ts";

/** What a store keeps about a session beside its entries. */
export interface SessionRecord {
  /** The id of the session. */
  readonly sessionId: string;
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** Further directories of the session: absolute paths. */
  readonly additionalDirectories: readonly string[];
  /** The title, where the session has one. */
  readonly title?: string;
  /** When it was created, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When it was last changed, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** The values of the session's config options, by id. */
  readonly config: Readonly<Record<string, string | boolean>>;
  /**
   * The `seq` of an entry: everything that began up to it has ended, so that reading can start after it. Absent: not
   * known.
   */
  readonly settledSeq?: number;
  /** Whatever the owner wants to keep with the session; plain JSON. */
  readonly data?: unknown;
}

/** The fields of a record to change. Those that are left out stay. */
export type SessionPatch = Partial<
  Pick<
    SessionRecord,
    "cwd" | "additionalDirectories" | "title" | "updatedAt" | "config" | "settledSeq" | "data"
  >
>;

/** The sessions to list. */
export interface SessionQuery {
  /** Only sessions with this working directory. */
  readonly cwd?: string;
  /** `nextCursor` of the page before. An unknown one rejects with RequestError "invalid_params". */
  readonly cursor?: string;
  /** How many sessions a page may have. Default 50. */
  readonly limit?: number;
}

/** One page of the sessions of a store. */
export interface SessionRecordPage {
  /** Most recently updated first. */
  readonly sessions: readonly SessionRecord[];
  /** Pass it as `cursor` to get the next page. Absent on the last one. */
  readonly nextCursor?: string;
}

/** How entries are handed over. */
export interface AppendOptions {
  /** Nobody else has the entries, and nobody will change them: a store may keep them as they are. Default false. */
  readonly owned?: boolean;
}

/**
 * Keeps sessions and their entries. An entry is opaque JSON for a store, but for `seq`: the store gives back what it
 * got, with every field, known or not. When `append` resolves, its entries survive a crash of the process. Test a store
 * of your own with `storeContract` of `@parley/acp/testing`.
 */
export interface SessionStore {
  /** Creates a session and claims it. Rejects when the id exists. */
  create(record: SessionRecord): Promise<void>;
  /** The record of a session; undefined for an unknown id. */
  get(sessionId: string): Promise<SessionRecord | undefined>;
  /** Changes some fields of a record. Rejects for an unknown id. */
  patch(sessionId: string, patch: SessionPatch): Promise<void>;
  /** One page of the sessions, most recently updated first. */
  list(query?: SessionQuery): Promise<SessionRecordPage>;
  /**
   * Stores entries at the end. The first has the `seq` after the last stored one. All or nothing: when it rejects, none
   * of them is stored, because the caller tries the same again.
   */
  append(sessionId: string, entries: readonly Entry[], options?: AppendOptions): Promise<void>;
  /** The entries from `fromSeq` (default 1) to the end, in order. */
  entries(sessionId: string, fromSeq?: number): AsyncIterable<Entry>;
  /** Creates a session with the entries and the config of another one, and claims it. */
  fork(sessionId: string, record: SessionRecord): Promise<void>;
  /** Deletes a session and its entries. An unknown id is no error. */
  delete(sessionId: string): Promise<void>;
  /** The same as `entries`, many at a time: faster for a long history. */
  pages?(sessionId: string, fromSeq?: number): AsyncIterable<readonly Entry[]>;
  /** Makes this process the one that may append. Rejects with RequestError "conflict", which names the holder. */
  claim(sessionId: string): Promise<void>;
  /** Ends the claim of this process. */
  release(sessionId: string): Promise<void>;
  /** Writes what waits, and closes the store. Afterwards its methods reject. */
  close(): Promise<void>;
}
