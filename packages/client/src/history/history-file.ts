// The history of sessions in a file: list, search, show, delete, record.

import { isAbsolute } from "node:path";
import { type Entry, RequestError } from "@parley/acp";
import { argumentText } from "@parley/acp/internal";
import { checkOptions, optional } from "@parley/acp/jsonrpc";
import type { SqliteStore } from "@parley/acp/node";
import { streamRedactor } from "@parley/acp/redact";
import { parseEntry, type StoredEntry } from "@parley/acp/store";
import type { History, HistoryHit, HistoryQuery } from "./history.ts";
import {
  type HistoryAgent,
  type HistorySession,
  isSameAgent,
  type NewHistorySession,
  recordFrom,
  sessionFrom,
  sessionId,
} from "./history-record.ts";
import type { RecordingHistory } from "./recording-history.ts";
import { SessionRecorder } from "./session-recorder.ts";

/** The file of a history, and secrets to keep out of it. */
export interface HistoryOptions {
  /** The absolute path of the file. It and its directories are created if missing, for this user only. */
  readonly path: string;
  /** Known secrets, which are replaced before anything is stored. */
  readonly secrets?: Iterable<string> | undefined;
  /** Called once per session when something cannot be stored. */
  readonly failed?: ((error: unknown) => void) | undefined;
}

const pageSize = 200;
const shortestPrefix = 3;

/**
 * Opens the history in a file. The file is opened with the first call. Several processes can share it.
 *
 * @throws {TypeError} When the path is not absolute.
 *
 * @example
 * import { connectAgent } from "@parley/client";
 * import { openHistory } from "@parley/client/history";
 *
 * await using history = openHistory({ path: "/home/me/.local/share/my-app/history.db" });
 * await using agent = await connectAgent("gemini", { name: "my-app", version: "1.0.0", history });
 * for (const { session, snippet } of await history.search("login test")) console.log(session.title, snippet);
 */
export function openHistory(options: HistoryOptions): History {
  checkOptions("openHistory", options, { path: true, secrets: true, failed: true });
  const { path }: Partial<HistoryOptions> = options;
  if (typeof path !== "string" || !isAbsolute(path))
    throw new TypeError(`openHistory: path must be an absolute path, got ${argumentText(path)}`);
  return new HistoryFile(options);
}

class HistoryFile implements RecordingHistory {
  readonly #options: HistoryOptions;
  #opened: Promise<SqliteStore> | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    await (await this.#store()).open();
  }

  async begin(session: NewHistorySession): Promise<SessionRecorder> {
    const store = await this.#store();
    const made = recordFrom(this.#clean(session), Date.now());
    if (session.name !== undefined && (await store.get(made.sessionId)) !== undefined) {
      // fails while another process works in it
      await store.claim(made.sessionId);
      await store.delete(made.sessionId);
    }
    await store.create(made);
    const copied = session.forks === undefined ? 0 : await copyEntries(store, session.forks, made.sessionId);
    return this.#recorder(store, sessionFrom(made), copied);
  }

  async claim(id: string): Promise<void> {
    await (await this.#store()).claim(id);
  }

  async resume(id: string, agentSessionId?: string): Promise<SessionRecorder> {
    const store = await this.#store();
    await store.claim(id);
    const known = await store.get(id);
    if (known === undefined) throw unknownSession(id);
    const recorder = this.#recorder(store, sessionFrom(known), await lastSeqOf(store, id));
    if (agentSessionId !== undefined) await recorder.renamed(agentSessionId);
    return recorder;
  }

  async find(
    word: string,
    place?: { readonly agent: HistoryAgent; readonly cwd: string },
  ): Promise<HistorySession | undefined> {
    const store = await this.#store();
    const named = place && (await store.get(sessionId(place.agent, place.cwd, word)));
    const exact = named ?? (await store.get(word));
    if (exact !== undefined) return sessionFrom(exact);
    if (place !== undefined) return undefined;
    const near: HistorySession[] = [];
    for await (const each of allSessions(store)) {
      if (each.name === word || (word.length >= shortestPrefix && each.id.startsWith(word))) near.push(each);
    }
    return near.length === 1 ? near[0] : undefined;
  }

  async list(
    query: HistoryQuery & { readonly agent?: HistoryAgent } = {},
  ): Promise<readonly HistorySession[]> {
    const { cwd, agent, limit = 20 } = query;
    const found: HistorySession[] = [];
    for await (const session of allSessions(await this.#store(), cwd)) {
      if (found.length >= limit) break;
      if (agent === undefined || isSameAgent(session.agent, agent)) found.push(session);
    }
    return found;
  }

  async search(words: string, { cwd, limit = 20 }: HistoryQuery = {}): Promise<readonly HistoryHit[]> {
    const store = await this.#store();
    const hits = await store.search(words, { limit, ...optional({ cwd }) });
    const found: HistoryHit[] = [];
    for (const { sessionId: id, snippet, seq } of hits) {
      const known = await store.get(id);
      if (known !== undefined) found.push({ session: sessionFrom(known), snippet, seq });
    }
    return found;
  }

  async *entries(id: string): AsyncGenerator<Entry> {
    for await (const stored of (await this.#store()).entries(id)) yield parseEntry(stored);
  }

  async *prompts(id: string): AsyncGenerator<Extract<Entry, { kind: "prompt" }>> {
    for await (const stored of (await this.#store()).entries(id)) {
      // nothing else is parsed: a long session has few prompts
      const entry = stored.kind === "prompt" ? parseEntry(stored) : undefined;
      if (entry?.kind === "prompt") yield entry;
    }
  }

  async delete(id: string): Promise<void> {
    const store = await this.#store();
    if ((await store.get(id)) === undefined) throw unknownSession(id);
    // not while another process records it
    await store.claim(id);
    await store.delete(id);
  }

  async close(): Promise<void> {
    await (await this.#opened)?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The words that start an agent again stay as they are; what it calls itself and the session may be anything. */
  #clean(session: NewHistorySession): NewHistorySession {
    const redactor = streamRedactor(this.#options.secrets ?? []);
    const { agent, title } = session;
    return {
      ...session,
      agent: { ...agent, name: redactor.text(agent.name) },
      ...(title === undefined ? {} : { title: redactor.text(title) }),
    };
  }

  #store(): Promise<SqliteStore> {
    const { path } = this.#options;
    this.#opened ??= import("@parley/acp/node").then(({ sqliteStore }) => sqliteStore({ path }));
    return this.#opened;
  }

  #recorder(store: SqliteStore, { id, title }: HistorySession, lastSeq: number): SessionRecorder {
    const { failed = () => undefined, secrets = [] } = this.#options;
    return new SessionRecorder({ store, id, lastSeq, title, failed, secrets });
  }
}

/** Gives a copy the conversation of the original, which may be deleted later. Returns how many entries there are. */
async function copyEntries(store: SqliteStore, from: string, to: string): Promise<number> {
  let page: StoredEntry[] = [];
  let count = 0;
  for await (const entry of store.entries(from)) {
    page.push(entry);
    count += 1;
    if (page.length < pageSize) continue;
    await store.append(to, page);
    page = [];
  }
  await store.append(to, page);
  return count;
}

async function* allSessions(store: SqliteStore, cwd?: string): AsyncGenerator<HistorySession> {
  let cursor: string | undefined;
  do {
    const page = await store.list({ limit: pageSize, ...optional({ cwd, cursor }) });
    yield* page.sessions.map(sessionFrom);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** Entries are numbered without gaps, so the last one is found by asking whether there is one from here on. */
async function lastSeqOf(store: SqliteStore, id: string): Promise<number> {
  const has = async (seq: number): Promise<boolean> => {
    for await (const _ of store.entries(id, seq)) return true;
    return false;
  };
  let low = 0;
  let high = 1;
  while (await has(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await has(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function unknownSession(id: string): RequestError {
  return new RequestError("session_not_found", `no session ${id} in the history`);
}
