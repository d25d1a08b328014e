// Sample records and entries for tests of session stores.

import { isObject, optional } from "../../base/objects.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { ContentBlock } from "../../model/content.ts";
import { serializeEntry } from "../../model/entry-format.ts";
import type {
  AppendOptions,
  Claim,
  ReadRange,
  SessionQuery,
  SessionRecord,
  SessionStore,
  StoredEntry,
  TailEvent,
} from "../../model/store.ts";

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

/** The entries of a session, read in pages. A number is that of the first entry. */
export async function collect(
  store: SessionStore,
  sessionId: string,
  range: number | ReadRange = {},
): Promise<StoredEntry[]> {
  const all: StoredEntry[] = [];
  const pages = store.read(sessionId, typeof range === "number" ? { from: range } : range);
  for await (const page of pages) all.push(...page);
  return all;
}

/** A claim, and an `append` under it that takes `after` from the first entry. */
export interface SampleWriter {
  readonly claim: Claim;
  append(entries: readonly StoredEntry[], options?: AppendOptions): Promise<void>;
}

export function writerOf(store: SessionStore, claim: Claim): SampleWriter {
  return {
    claim,
    append: (entries, options) => store.append(claim, (entries[0]?.seq ?? 1) - 1, entries, options),
  };
}

/** Creates a session with entries. */
export async function createdWith(
  store: SessionStore,
  sessionId: string,
  entries: readonly StoredEntry[] = [],
  more: Partial<SessionRecord> = {},
): Promise<SampleWriter> {
  const writer = writerOf(store, await store.create(recordOf(sessionId, more)));
  if (entries.length > 0) await writer.append(entries);
  return writer;
}

/** The record of a session, without its head. */
export async function recordIn(store: SessionStore, sessionId: string): Promise<SessionRecord | undefined> {
  const session = await store.get(sessionId);
  if (session === undefined) return undefined;
  const { head: _, ...record } = session;
  return record;
}

/** The reason in the data of the error that a promise rejects with. Undefined if it resolves. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    const data = error instanceof RequestError ? error.data : undefined;
    return isObject(data) ? data["reason"] : String(error);
  }
  return undefined;
}

/** Reads until this many entries have come, or another event. */
export async function entriesFrom(
  events: AsyncIterator<TailEvent>,
  count: number,
): Promise<{ entries: StoredEntry[]; cursor: string; end?: TailEvent | "over" }> {
  const entries: StoredEntry[] = [];
  let cursor = "";
  while (entries.length < count) {
    const { value, done } = await events.next();
    if (done || value.kind !== "entries") return { entries, cursor, end: done ? "over" : value };
    entries.push(...value.entries);
    cursor = value.cursor;
  }
  return { entries, cursor };
}

/** Registers one test of a store. */
export type RegisterStoreTest = (what: string, body: (store: SessionStore) => Promise<void>) => void;

/** Registers one test of two stores on the same data. */
export type RegisterSharedTest = (
  what: string,
  body: (one: SessionStore, other: SessionStore) => Promise<void>,
) => void;

/** The ids of all sessions of a list, page by page. */
export async function idsOf(store: SessionStore, query: SessionQuery = {}): Promise<string[]> {
  const limit = query.limit ?? 50;
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ ...query, limit, ...optional({ cursor }) });
    if (page.sessions.length > limit)
      throw new Error(`a page has ${page.sessions.length} sessions, not ${limit}`);
    for (const { sessionId } of page.sessions) ids.push(sessionId);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids;
}
