// The interface of session stores.

import type { Entry } from "./entry.ts";

export interface SessionRecord {
  readonly sessionId: string;
  /** Absolute. */
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly title?: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The values of the session's config options, by id. */
  readonly config: Readonly<Record<string, string | boolean>>;
  /**
   * Whatever began up to this entry has ended: whoever opens the session to go on with it need not read what is before.
   * Absent: nothing is known.
   */
  readonly settledSeq?: number;
  /** Whatever the owner wants to keep with the session; plain JSON. */
  readonly data?: unknown;
}

export type SessionPatch = Partial<
  Pick<
    SessionRecord,
    "cwd" | "additionalDirectories" | "title" | "updatedAt" | "config" | "settledSeq" | "data"
  >
>;

export interface SessionQuery {
  /** Only sessions of this working directory. */
  readonly cwd?: string;
  /** From the page before; a cursor that is not ours rejects with RequestError "invalid_params". */
  readonly cursor?: string;
  /** Default 50. */
  readonly limit?: number;
}

export interface SessionRecordPage {
  /** Most recently updated first. */
  readonly sessions: readonly SessionRecord[];
  readonly nextCursor?: string;
}

export interface AppendOptions {
  /** Nobody else has the entries, and nobody will change them: a store may keep them as they are. Default false. */
  readonly owned?: boolean;
}

/**
 * Keeps sessions and their entries. An entry is opaque JSON for a store, but for `seq`: the store gives back what it
 * got, with every field, known or not. When `append` resolves, its entries survive a crash of the process.
 */
export interface SessionStore {
  /** Creates and claims. Rejects when the id exists. */
  create(record: SessionRecord): Promise<void>;
  get(sessionId: string): Promise<SessionRecord | undefined>;
  patch(sessionId: string, patch: SessionPatch): Promise<void>;
  list(query?: SessionQuery): Promise<SessionRecordPage>;
  /**
   * Entries continue the sequence: the first has the `seq` after the last stored one. All or nothing: one that
   * rejects has stored none of them, since whoever is told so tries the same again.
   */
  append(sessionId: string, entries: readonly Entry[], options?: AppendOptions): Promise<void>;
  /** From `fromSeq` (default 1) to the end, in order. */
  entries(sessionId: string, fromSeq?: number): AsyncIterable<Entry>;
  /** A new session with the entries and the config of an old one. Claims the new one. */
  fork(sessionId: string, record: SessionRecord): Promise<void>;
  /** Unknown ids are fine. */
  delete(sessionId: string): Promise<void>;
  /** The same, many at a time: for whoever reads a long history. */
  pages?(sessionId: string, fromSeq?: number): AsyncIterable<readonly Entry[]>;
  /** Makes this process the one that may append. Rejects with RequestError "conflict" naming the holder. */
  claim(sessionId: string): Promise<void>;
  release(sessionId: string): Promise<void>;
  close(): Promise<void>;
}
