// Sample records and entries for tests of session stores.

import { optional } from "../../base/objects.ts";
import type { ContentBlock } from "../../model/content.ts";
import { serializeEntry } from "../../model/entry-format.ts";
import type { SessionRecord, SessionStore, StoredEntry } from "../../model/store.ts";

export function recordOf(sessionId: string, more: Partial<SessionRecord> = {}): SessionRecord {
  return {
    sessionId,
    cwd: "/project",
    additionalDirectories: [],
    createdAt: 1_000,
    updatedAt: 1_000,
    config: {},
    ...more,
  };
}

export function promptAt(seq: number, text = `prompt ${seq}`): StoredEntry {
  return promptWith(seq, [{ type: "text", text }]);
}

export function promptWith(seq: number, prompt: readonly ContentBlock[]): StoredEntry {
  return serializeEntry({ format: 1, seq, time: 1_000 + seq, kind: "prompt", messageId: `m${seq}`, prompt });
}

export function promptsFrom(first: number, count: number): StoredEntry[] {
  return Array.from({ length: count }, (_, index) => promptAt(first + index));
}

export async function collect(
  store: SessionStore,
  sessionId: string,
  fromSeq?: number,
): Promise<StoredEntry[]> {
  const all: StoredEntry[] = [];
  for await (const entry of store.entries(sessionId, fromSeq)) all.push(entry);
  return all;
}

/** Registers one test of a store. */
export type RegisterStoreTest = (what: string, body: (store: SessionStore) => Promise<void>) => void;

/** The ids of all sessions, page by page. */
export async function idsOf(store: SessionStore, cwd?: string, limit = 50): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ limit, ...optional({ cwd, cursor }) });
    if (page.sessions.length > limit)
      throw new Error(`a page has ${page.sessions.length} sessions, not ${limit}`);
    for (const { sessionId } of page.sessions) ids.push(sessionId);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids;
}
