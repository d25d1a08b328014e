// The interface of a history of sessions.

import type { Entry } from "@parley/acp";
import type { HistoryAgent, HistorySession } from "./history-record.ts";

export interface HistoryQuery {
  /** Only sessions of this working directory. */
  readonly cwd?: string;
  /** Default 20. */
  readonly limit?: number;
}

export interface HistoryHit {
  readonly session: HistorySession;
  /** A few words around the match, on one line. */
  readonly snippet: string;
  /** The first entry of the message. */
  readonly seq: number;
}

/** The sessions that were recorded, of all agents. */
export interface History {
  /**
   * By its id. With a place also by its name there, and by nothing else: somebody may be about to use the name for a new
   * one. Without a place also by its name anywhere or the beginning of its id, if only one has it.
   */
  find(
    word: string,
    place?: { readonly agent: HistoryAgent; readonly cwd: string },
  ): Promise<HistorySession | undefined>;
  /** Most recently used first. */
  list(query?: HistoryQuery & { readonly agent?: HistoryAgent }): Promise<readonly HistorySession[]>;
  /** Messages that have all the words, best first. */
  search(words: string, query?: HistoryQuery): Promise<readonly HistoryHit[]>;
  entries(id: string): AsyncIterable<Entry>;
  /** Rejects with a RequestError while another process records the session. */
  delete(id: string): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
