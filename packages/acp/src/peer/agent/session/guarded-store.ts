// Wraps an app's session store: its errors become errors for clients, and a session is open on one connection at a time.

import type { Log } from "../../../jsonrpc/connection-options.ts";
import { RequestError } from "../../../jsonrpc/errors.ts";
import type { Entry } from "../../../model/entry.ts";
import { isKnownKind, upgradeEntries } from "../../../model/entry-format.ts";
import type { SessionStore } from "../../../model/store.ts";

export interface GuardedStore extends Required<SessionStore> {
  /** Whether a connection of this agent has the session open. */
  isOpen(sessionId: string): boolean;
}

export function guardedStore(store: SessionStore, log: Log): GuardedStore {
  const open = new Set<string>();

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

  /** The entries in the current format. Those of a kind that this version does not have are reported, and not shown. */
  function readable(sessionId: string, page: readonly Entry[]): readonly Entry[] {
    let entries: readonly Entry[];
    try {
      entries = upgradeEntries(page);
    } catch (error) {
      // what is no entry at all stays so
      throw error instanceof TypeError ? Object.assign(error, { kind: "damaged", sessionId }) : error;
    }
    for (const entry of entries) {
      const { kind, seq } = entry;
      if (isKnownKind(entry) || reported.has(`${sessionId} ${kind}`)) continue;
      reported.add(`${sessionId} ${kind}`);
      const message = "a stored session has entries of an unknown kind, which are not shown";
      log("warn", message, { sessionId, kind, seq });
    }
    return entries;
  }

  return {
    isOpen: (sessionId) => open.has(sessionId),
    async create(record) {
      await guarded(() => store.create(record));
      open.add(record.sessionId);
    },
    get: (sessionId) => guarded(() => store.get(sessionId)),
    patch: (sessionId, patch) => guarded(() => store.patch(sessionId, patch)),
    list: (query) => guarded(() => store.list(query)),
    append: (sessionId, entries, options) => guarded(() => store.append(sessionId, entries, options)),
    async *entries(sessionId, fromSeq): AsyncGenerator<Entry> {
      try {
        for await (const entry of store.entries(sessionId, fromSeq)) yield* readable(sessionId, [entry]);
      } catch (error) {
        throw clientError(error);
      }
    },
    async *pages(sessionId, fromSeq): AsyncGenerator<readonly Entry[]> {
      try {
        if (store.pages === undefined) {
          for await (const entry of store.entries(sessionId, fromSeq)) yield readable(sessionId, [entry]);
        } else for await (const page of store.pages(sessionId, fromSeq)) yield readable(sessionId, page);
      } catch (error) {
        throw clientError(error);
      }
    },
    async fork(sessionId, record) {
      await guarded(() => store.fork(sessionId, record));
      open.add(record.sessionId);
    },
    async delete(sessionId) {
      await guarded(() => store.delete(sessionId));
      open.delete(sessionId);
    },
    async claim(sessionId) {
      if (open.has(sessionId)) {
        const message = "the session is open on another connection: close it there first";
        throw new RequestError("conflict", message, { data: { reason: "session_held" } });
      }
      open.add(sessionId);
      await guarded(() => store.claim(sessionId)).catch((error: unknown) => {
        open.delete(sessionId);
        throw error;
      });
    },
    async release(sessionId) {
      open.delete(sessionId);
      await guarded(() => store.release(sessionId));
    },
    // called by the app, which learns the cause
    close: () => store.close(),
  };
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
