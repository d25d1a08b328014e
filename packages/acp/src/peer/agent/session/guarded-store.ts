// Wraps an app's session store: its errors become errors for clients.

import type { Log } from "../../../jsonrpc/connection-options.ts";
import { RequestError } from "../../../jsonrpc/errors.ts";
import type { Entry } from "../../../model/entry.ts";
import { isKnownKind, parseEntry } from "../../../model/entry-format.ts";
import type { ReadRange, SessionStore, StoredEntry } from "../../../model/store.ts";

/** Reads the entries of a session. */
export interface StoredHistory {
  pages(range?: ReadRange): AsyncIterable<readonly StoredEntry[]>;
  /** Throws the error for the client when it is damaged. */
  read(stored: StoredEntry): Entry;
}

/** The calls of a store that agents make. */
export interface GuardedStore
  extends Pick<
    SessionStore,
    | "append"
    | "claim"
    | "close"
    | "create"
    | "delete"
    | "fork"
    | "get"
    | "list"
    | "patch"
    | "read"
    | "release"
  > {
  /** The stored entries of a session. */
  history(sessionId: string): StoredHistory;
}

export function guardedStore(store: SessionStore, log: Log): GuardedStore {
  async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw clientError(error);
    }
  }

  function clientError(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    log("error", "the session store failed", { error });
    return damaged(error) ?? unusable(error) ?? unavailable();
  }

  const reported = new Set<string>();

  /** An entry of a kind that this version does not have is reported, and not shown. */
  function read(sessionId: string, stored: StoredEntry): Entry {
    let entry: Entry;
    try {
      entry = parseEntry(stored);
    } catch (error) {
      // what is no entry at all stays so
      throw clientError(
        error instanceof TypeError ? Object.assign(error, { kind: "damaged", sessionId }) : error,
      );
    }
    const { kind, seq } = entry;
    if (isKnownKind(kind) || reported.has(`${sessionId} ${kind}`)) return entry;
    reported.add(`${sessionId} ${kind}`);
    const message = "a stored session has entries of an unknown kind, which are not shown";
    log("warn", message, { sessionId, kind, seq });
    return entry;
  }

  async function* pages(sessionId: string, range?: ReadRange): AsyncGenerator<readonly StoredEntry[]> {
    try {
      yield* store.read(sessionId, range);
    } catch (error) {
      throw clientError(error);
    }
  }

  return {
    history: (sessionId) => ({
      pages: (range) => pages(sessionId, range),
      read: (stored) => read(sessionId, stored),
    }),
    create: (record) => guarded(() => store.create(record)),
    get: (sessionId) => guarded(() => store.get(sessionId)),
    patch: (sessionId, patch) => guarded(() => store.patch(sessionId, patch)),
    list: (query) => guarded(() => store.list(query)),
    append: (...given) => guarded(() => store.append(...given)),
    read: pages,
    fork: (sessionId, record, options) => guarded(() => store.fork(sessionId, record, options)),
    delete: (sessionId) => guarded(() => store.delete(sessionId)),
    claim: (sessionId, options) => guarded(() => store.claim(sessionId, options)),
    release: (claim) => guarded(() => store.release(claim)),
    // called by the app, which learns the cause
    close: () => store.close(),
  };
}

export function sessionHeld(whatToDo: string): RequestError {
  const message = `the session is open on another connection: ${whatToDo}`;
  return new RequestError("conflict", message, { data: { reason: "session_held" } });
}

/** A damaged session stays damaged: the client must know which one it is. */
function damaged(error: unknown): RequestError | undefined {
  const { kind, sessionId } = (error ?? {}) as { readonly kind?: unknown; readonly sessionId?: unknown };
  if (kind !== "damaged" || typeof sessionId !== "string") return undefined;
  const message = `the session ${JSON.stringify(sessionId)} is damaged and cannot be read: delete it, or take it from a backup`;
  return new RequestError("unavailable", message, { data: { reason: "session_damaged", sessionId } });
}

/** The whole store cannot be used until it is repaired. A client does not learn its path. */
function unusable(error: unknown): RequestError | undefined {
  const { kind, path } = (error ?? {}) as { readonly kind?: unknown; readonly path?: unknown };
  if (typeof kind !== "string" || typeof path !== "string") return undefined;
  const message = "the agent's session store cannot be used: the agent's log says why, and what to do";
  return new RequestError("unavailable", message, { data: { reason: "store_unusable" } });
}

export function unavailable(): RequestError {
  return new RequestError("unavailable", "the session cannot be stored right now: try again", {
    data: { reason: "unavailable" },
  });
}
