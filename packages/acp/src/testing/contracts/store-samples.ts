// Sample records and entries for tests of session stores.

import { optional } from "../../base/objects.ts";
import type { Entry } from "../../model/entry.ts";
import type { SessionRecord, SessionStore } from "../../model/store.ts";

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

export function promptAt(seq: number, text = `prompt ${seq}`): Entry {
  return {
    format: 1,
    seq,
    time: 1_000 + seq,
    kind: "prompt",
    messageId: `m${seq}`,
    prompt: [{ type: "text", text }],
  };
}

export function promptsFrom(first: number, count: number): Entry[] {
  return Array.from({ length: count }, (_, index) => promptAt(first + index));
}

export async function collect(store: SessionStore, sessionId: string, fromSeq?: number): Promise<Entry[]> {
  const all: Entry[] = [];
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
