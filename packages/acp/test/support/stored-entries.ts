// The entries of a session, one by one.

import type { SessionStore, StoredEntry } from "../../src/store.ts";

export async function* storedEntries(
  store: Pick<SessionStore, "read">,
  sessionId: string,
  from?: number,
): AsyncGenerator<StoredEntry, void> {
  for await (const page of store.read(sessionId, { from })) yield* page;
}
