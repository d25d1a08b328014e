// The interface of session stores.

import type { ArchiveFilter } from "./agent-status.ts";
import type { JsonValue } from "./custom-types.ts";

/** An entry in the form that stores keep: the content is JSON text, which `parseEntry` parses. */
export interface StoredEntry {
  /** The version of the format. */
  readonly format: number;
  /** Counts from 1 without gaps. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The kind of the entry, such as "update" or "prompt". */
  readonly kind: string;
  /** The kind of the update (`sessionUpdate`), for entries of kind "update". */
  readonly tag?: string;
  /** The JSON of the update, or of the fields that the other kinds have besides these. */
  readonly text: string;
}

export type { ArchiveFilter } from "./agent-status.ts";

/** The facts that a store keeps about a session in addition to its entries. */
export interface SessionRecord {
  /** The id of the session. */
  readonly sessionId: string;
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** Further directories of the session: absolute paths. */
  readonly additionalDirectories: readonly string[];
  /** The title, if the session has one. */
  readonly title?: string;
  /** Present if the user has set the title: a generated title does not replace it. */
  readonly hasUserTitle?: true;
  /** Whether the session is archived. Absent means no. */
  readonly archived?: boolean;
  /** The principal that it belongs to (see `agent.connect`). Absent: the one local user. Others do not see the session. */
  readonly principal?: string;
  /** When it was created, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When it was last changed, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** The values of the session's config options, by id. */
  readonly config: Readonly<Record<string, JsonValue>>;
  /**
   * The `seq` of an entry. Everything that began at or before this entry has ended, so reading can start after it. Absent
   * if unknown.
   */
  readonly settledSeq?: number;
  /** Data of the application; plain JSON. */
  readonly data?: unknown;
}

/** The fields of a record to change. Omitted fields keep their values. */
export type SessionPatch = Partial<
  Pick<
    SessionRecord,
    | "cwd"
    | "additionalDirectories"
    | "title"
    | "hasUserTitle"
    | "archived"
    | "updatedAt"
    | "config"
    | "settledSeq"
    | "data"
  >
>;

/** The sessions to list. */
export interface SessionQuery {
  /** Only sessions with this working directory. "/ws", "/ws/" and "/ws/a/.." are the same directory. */
  readonly cwd?: string | undefined;
  /** "exclude" leaves archived sessions out, "include" lists all, "only" lists archived ones. Default "exclude". */
  readonly archived?: ArchiveFilter | undefined;
  /** `nextCursor` of the previous page. An unknown cursor rejects with RequestError "invalid_params". */
  readonly cursor?: string | undefined;
  /** The maximum number of sessions per page. Default 50. */
  readonly limit?: number | undefined;
}

/** One page of the sessions of a store. */
export interface SessionRecordPage {
  /** Most recently updated first. */
  readonly sessions: readonly SessionRecord[];
  /** Pass it as `cursor` to get the next page. Absent on the last page. */
  readonly nextCursor?: string;
}

/**
 * Keeps sessions and their entries. A store looks only at the `seq` of an entry, and returns the entry as it was given.
 * When `append` resolves, its entries survive a crash of the process. Test your own store with `storeContract` of
 * `@parley/acp/testing`.
 */
export interface SessionStore {
  /** Creates a session and claims it. Rejects if the id already exists. */
  create(record: SessionRecord): Promise<void>;
  /** The record of a session; undefined for an unknown id. */
  get(sessionId: string): Promise<SessionRecord | undefined>;
  /** Changes some fields of a record. Rejects for an unknown id. */
  patch(sessionId: string, patch: SessionPatch): Promise<void>;
  /** One page of the sessions, most recently updated first. */
  list(query?: SessionQuery): Promise<SessionRecordPage>;
  /**
   * Appends entries. The `seq` of the first follows that of the last stored entry. All or nothing: if it rejects, none of
   * them may be stored, because the caller will try the same entries again.
   */
  append(sessionId: string, entries: readonly StoredEntry[]): Promise<void>;
  /** The entries from `fromSeq` (default 1) to the end, in order. */
  entries(sessionId: string, fromSeq?: number): AsyncIterable<StoredEntry>;
  /** Creates a session with the entries and the config of another one, and claims it. */
  fork(sessionId: string, record: SessionRecord): Promise<void>;
  /** Deletes a session and its entries. An unknown id is not an error. */
  delete(sessionId: string): Promise<void>;
  /** The same as `entries`, in pages of many entries. This is faster for a long history. */
  pages?(sessionId: string, fromSeq?: number): AsyncIterable<readonly StoredEntry[]>;
  /**
   * Gives this process the exclusive right to append. If another process has it, rejects with RequestError "conflict",
   * which names the holder.
   */
  claim(sessionId: string): Promise<void>;
  /** Ends the claim of this process. */
  release(sessionId: string): Promise<void>;
  /** Writes pending data and closes the store. Afterwards its methods reject. */
  close(): Promise<void>;
}
