// Stores sessions in a SQLite file that many processes can share.

import type { Log } from "../../jsonrpc/connection-options.ts";
import type { Entry } from "../../model/entry.ts";
import type { SessionStore } from "../../model/store.ts";
import { textOfEntry } from "./entry-text.ts";
import type { OpenStore } from "./open-store.ts";

/**
 * Creates a store in the file at `path`. SQLite is loaded on first use; before Node 24 it prints an
 * ExperimentalWarning. Arguments are copied before a call returns; a rejected call has stored
 * nothing.
 *
 * @example
 * const store = sqliteStore({ path: join(dataDirectory, "sessions.db") });
 * await store.create({ sessionId, cwd, additionalDirectories: [], createdAt: now, updatedAt: now, config: {} });
 * await store.append(sessionId, [{ seq: 1, time: now, kind: "prompt", messageId, prompt }]);
 */
export function sqliteStore(options: SqliteStoreOptions): SqliteStore {
  const held = new Set<string>();
  let opening: Promise<OpenStore> | undefined;
  let current: OpenStore | undefined;
  let isClosed = false;
  let closing: Promise<void> | undefined;

  async function open(): Promise<OpenStore> {
    if (isClosed) throw new Error("the session store is closed");
    // synchronously when it is open, so that calls of one turn share a transaction
    if (current?.isBroken === false) return current;
    opening ??= import("./open-store.ts").then(({ openStore }) => openStore(options));
    try {
      current = await opening;
      return current;
    } finally {
      opening = undefined;
    }
  }

  /** Closes after all earlier calls. */
  async function close(): Promise<void> {
    const last = current === undefined && opening === undefined ? undefined : open();
    isClosed = true;
    const store = await last;
    try {
      if (held.size > 0) await store?.release([...held]);
    } finally {
      await store?.close();
    }
  }

  return {
    async open() {
      await open();
    },
    async create(record) {
      const copy = copyOf(record);
      await (await open()).create(copy);
      held.add(copy.sessionId);
    },
    async get(sessionId) {
      return (await open()).get(sessionId);
    },
    async patch(sessionId, patch) {
      const copy = copyOf(patch);
      await (await open()).patch(sessionId, copy);
    },
    async list(query = {}) {
      const copy = copyOf(query);
      return (await open()).list(copy);
    },
    async append(sessionId, entries) {
      const texts = entries.map(textOfEntry);
      await (await open()).append(sessionId, texts);
    },
    async *entries(sessionId, fromSeq = 1): AsyncGenerator<Entry> {
      for await (const page of (await open()).pages(sessionId, fromSeq)) yield* page;
    },
    async *pages(sessionId, fromSeq = 1): AsyncGenerator<readonly Entry[]> {
      yield* (await open()).pages(sessionId, fromSeq);
    },
    async fork(sessionId, record) {
      const copy = copyOf(record);
      await (await open()).fork(sessionId, copy);
      held.add(copy.sessionId);
    },
    async delete(sessionId) {
      await (await open()).delete(sessionId);
      held.delete(sessionId);
    },
    async claim(sessionId) {
      await (await open()).claim(sessionId);
      held.add(sessionId);
    },
    async release(sessionId) {
      await (await open()).release([sessionId]);
      held.delete(sessionId);
    },
    async search(query, searchOptions = {}) {
      return (await open()).search(query, { ...searchOptions });
    },
    async verify() {
      return (await open()).verify();
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

export interface SqliteStoreOptions {
  /** The database file. It and its directories are created if missing, for this user only. */
  readonly path: string;
  /**
   * "normal" (default): acknowledged writes survive a crash of the process; a power cut may lose the commits since the
   * last checkpoint, but never damages the file. "full": acknowledged writes survive a power cut too, and each commit
   * waits for the disk.
   */
  readonly durability?: "full" | "normal";
  /** Whether to create a missing file. Default true. */
  readonly create?: boolean;
  /** The largest size of the file; then writes reject with RequestError -32067. Default: no limit. */
  readonly maxBytes?: number;
  /** How long a write blocks this process while another one writes. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Receives warnings, for example about damaged sessions that `list` leaves out. */
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
  /** The seq of the message's first entry. */
  readonly seq: number;
  /** A few words of the message around the match, on one line. */
  readonly snippet: string;
}

export interface StoreProblem {
  /** Absent when the whole file is concerned. */
  readonly sessionId?: string;
  readonly problem: string;
}

export interface SqliteStore extends SessionStore {
  /** Opens the file now instead of with the first call. After a failure the next call tries again. */
  open(): Promise<void>;
  /**
   * Finds prompts and agent messages with all the words, best match first. Case and accents are ignored, the last word
   * may be a prefix, and "quoted words" must follow each other.
   */
  search(query: string, options?: SearchOptions): Promise<readonly SearchHit[]>;
  /** Reads everything and returns the damage; empty if there is none. */
  verify(): Promise<readonly StoreProblem[]>;
}
