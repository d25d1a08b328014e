// Remembers the claims of a store's sessions, so that a test can name a session by its id alone.

import type { Claim, SessionRecord, SessionStore, StoredEntry } from "../../src/model/store.ts";

export interface ClaimedSessions {
  create(record: SessionRecord): Promise<void>;
  fork(sessionId: string, record: SessionRecord): Promise<void>;
  claim(sessionId: string): Promise<void>;
  release(sessionId: string): Promise<void>;
  /** Appends entries. `after` follows from the number of the first one. */
  append(sessionId: string, entries: readonly StoredEntry[]): Promise<void>;
  delete(sessionId: string): Promise<void>;
}

export function claimedSessions(store: SessionStore): ClaimedSessions {
  const claims = new Map<string, Claim>();
  const keep = (claim: Claim): void => void claims.set(claim.sessionId, claim);
  const claimOf = (sessionId: string): Claim => claims.get(sessionId) ?? { sessionId, epoch: -1 };
  return {
    create: async (record) => keep(await store.create(record)),
    fork: async (sessionId, record) => keep(await store.fork(sessionId, record)),
    claim: async (sessionId) => keep(await store.claim(sessionId)),
    release: (sessionId) => store.release(claimOf(sessionId)),
    append: (sessionId, entries) => store.append(claimOf(sessionId), (entries[0]?.seq ?? 1) - 1, entries),
    delete: (sessionId) => store.delete(sessionId, claims.get(sessionId)),
  };
}
