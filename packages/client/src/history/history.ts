// The interface of a history of sessions.

import type { Entry } from "@parley/acp";
import type { HistoryAgent, HistorySession } from "./history-record.ts";

/** A filter for sessions. */
export interface HistoryQuery {
  /** Only sessions of this working directory. */
  readonly cwd?: string;
  /** The maximum number of results. Default 20. */
  readonly limit?: number;
}

/** A message that matches a search. */
export interface HistoryHit {
  /** The session that contains the message. */
  readonly session: HistorySession;
  /** A few words around the match, on one line. */
  readonly snippet: string;
  /** The `seq` of the message's first entry. */
  readonly seq: number;
}

/** The recorded sessions of all agents. */
export interface History {
  /**
   * Finds a session by its id. With a place, also by its name in that place. Without a place, also by its name or the
   * beginning of its id (at least 3 characters), if only one session matches.
   */
  find(
    word: string,
    place?: { readonly agent: HistoryAgent; readonly cwd: string },
  ): Promise<HistorySession | undefined>;
  /** Lists sessions, most recently used first. */
  list(query?: HistoryQuery & { readonly agent?: HistoryAgent }): Promise<readonly HistorySession[]>;
  /** Finds messages that contain all the words, best match first. */
  search(words: string, query?: HistoryQuery): Promise<readonly HistoryHit[]>;
  /** Reads the entries of a session, oldest first. */
  entries(id: string): AsyncIterable<Entry>;
  /** Deletes a session. Rejects with RequestError while another process records it. */
  delete(id: string): Promise<void>;
  /** Closes the file. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
