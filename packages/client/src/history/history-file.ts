// The history of sessions in a file: list, search, show, delete, record.

import { isAbsolute } from "node:path";
import { type Entry, RequestError } from "@parley/acp";
import { argumentText } from "@parley/acp/internal";
import { checkOptions, optional } from "@parley/acp/jsonrpc";
import type { SqliteStore } from "@parley/acp/node";
import { streamRedactor } from "@parley/acp/redact";
import {
  type Claim,
  type ClaimOptions,
  currentHead,
  interruptedEntries,
  LogWriter,
  parseEntry,
  type SessionQuery,
} from "@parley/acp/store";
import type { History, HistoryHit, HistoryQuery } from "./history.ts";
import {
  agentKey,
  type HistoryAgent,
  type HistorySession,
  type NewHistorySession,
  recordFrom,
  sessionFrom,
  sessionId,
} from "./history-record.ts";
import { type RecordedEntries, recordedEntries } from "./recorded-entries.ts";
import { grantsIn, revokedBody, type SessionGrant } from "./session-grants.ts";

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

/** The history in a file. `openHistory` makes it. */
export class HistoryFile implements History {
  readonly #options: HistoryOptions;
  #opened: Promise<SqliteStore> | undefined;
  /** The claims of sessions that are about to be recorded. */
  readonly #claims = new Map<string, Claim>();

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Called once per session when something cannot be stored. */
  get failed(): HistoryOptions["failed"] {
    return this.#options.failed;
  }

  /** Opens the file now. Without it the first call does. */
  async open(): Promise<void> {
    await (await this.#store()).open();
  }

  /** Makes the filter that decides which entries of a session are recorded. */
  recorded(): RecordedEntries {
    return recordedEntries(this.#options.secrets ?? []);
  }

  /**
   * Starts to record a session that has just been opened. One with the name of an older one replaces it. `fail` is called when
   * something cannot be stored.
   */
  async begin(session: NewHistorySession, fail: (error: unknown) => void): Promise<LogWriter> {
    const store = await this.#store();
    const made = recordFrom(this.#clean(session), Date.now());
    if (session.name !== undefined && (await store.get(made.sessionId)) !== undefined) {
      // fails while another process works in it
      const old = await store.claim(made.sessionId);
      await orReleased(store, old, () => store.delete(made.sessionId, old));
    }
    await freeAgentSession(store, session);
    // a copy has the conversation of the original, which may be deleted later
    const { forks, atSeq } = session;
    const claim =
      forks === undefined ? await store.create(made) : await store.fork(forks, made, optional({ atSeq }));
    return orReleased(store, claim, () => this.#writer(store, claim, fail));
  }

  /**
   * Continues a session that was recorded before. Rejects with RequestError "conflict" while somebody else records it.
   */
  async resume(
    id: string,
    {
      agentSessionId,
      proxies,
    }: Pick<HistorySession, "agentSessionId"> & Partial<Pick<HistorySession, "proxies">>,
    fail: (error: unknown) => void,
  ): Promise<LogWriter> {
    const store = await this.#store();
    const claim = this.#claims.get(id) ?? (await claimed(store, id));
    this.#claims.delete(id);
    return orReleased(store, claim, async () => {
      await this.renamed(id, agentSessionId);
      if (proxies !== undefined) await this.#proxied(store, id, proxies);
      return this.#writer(store, claim, fail);
    });
  }

  /** Other proxies than before may stand in front of the agent. */
  async #proxied(store: SqliteStore, id: string, proxies: readonly string[]): Promise<void> {
    const known = await store.get(id);
    if (known === undefined || JSON.stringify(sessionFrom(known).proxies) === JSON.stringify(proxies)) return;
    await store.patch(id, { data: { ...(known.data as object), proxies } }); // as: written by recordFrom
  }

  /** Call it when the agent has another id for the session. */
  async renamed(id: string, agentSessionId: string): Promise<void> {
    const store = await this.#store();
    const known = await store.get(id);
    if (known === undefined) throw unknownSession(id);
    if (known.agentSessionId === agentSessionId) return;
    await freeAgentSession(store, { agent: sessionFrom(known).agent, agentSessionId });
    await store.patch(id, { agentSessionId, data: { ...(known.data as object), agentSessionId } }); // as: written by recordFrom
  }

  /** Says which session went on in its place after a rewind; undefined: none. */
  async rewound(id: string, rewoundTo: string | undefined): Promise<void> {
    const store = await this.#store();
    const known = await store.get(id);
    if (known === undefined) return;
    const { rewoundTo: before, ...data } = (known.data ?? {}) as { readonly rewoundTo?: string }; // as: written by recordFrom
    if (before !== rewoundTo) await store.patch(id, { data: { ...data, ...optional({ rewoundTo }) } });
  }

  /**
   * Claims a session that is about to be recorded, until it is released or the history is closed. Rejects with RequestError
   * "conflict" while somebody else records it, unless `takeOver` is set, which ends the other recording.
   */
  async claim(id: string, options: Pick<ClaimOptions, "takeOver"> = {}): Promise<void> {
    if (!this.#claims.has(id)) this.#claims.set(id, await claimed(await this.#store(), id, options));
  }

  /** Releases a session that is not recorded after all. Has no effect once it is recorded. */
  async release(id: string): Promise<void> {
    const claim = this.#claims.get(id);
    this.#claims.delete(id);
    if (claim !== undefined) await (await this.#store()).release(claim);
  }

  /** The session that an agent knows by this id. */
  async ofAgent(agent: HistoryAgent, agentSessionId: string): Promise<HistorySession | undefined> {
    const found = await (await this.#store()).find(agentKey(agent), agentSessionId);
    return found && sessionFrom(found);
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
    for await (const session of allSessions(await this.#store(), { cwd, agent: agent && agentKey(agent) })) {
      if (found.length >= limit) break;
      found.push(session);
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
    for await (const page of (await this.#store()).read(id)) yield* page.map(parseEntry);
  }

  /** Reads the entries of a session, newest first. */
  async *recent(id: string): AsyncGenerator<Entry> {
    const pages = (await this.#store()).read(id, { isBackwards: true });
    for await (const page of pages) yield* page.toReversed().map(parseEntry);
  }

  /** Reads the prompts of a session, oldest first. */
  async *prompts(id: string): AsyncGenerator<Extract<Entry, { kind: "prompt" }>> {
    for await (const page of (await this.#store()).read(id)) {
      for (const stored of page) {
        // nothing else is parsed: a long session has few prompts
        const entry = stored.kind === "prompt" ? parseEntry(stored) : undefined;
        if (entry?.kind === "prompt") yield entry;
      }
    }
  }

  /** What the user has answered for a session and not revoked. */
  async grants(id: string): Promise<readonly SessionGrant[]> {
    return grantsIn((await this.#store()).read(id), id);
  }

  /** Revokes a grant of a session. Rejects with RequestError "conflict" while somebody else records the session. */
  async revokeGrant(id: string, grant: string): Promise<void> {
    const store = await this.#store();
    const writer = await this.#writer(store, await claimed(store, id), () => undefined);
    writer.append(revokedBody(grant));
    await writer.close();
  }

  async delete(id: string): Promise<void> {
    const store = await this.#store();
    if ((await store.get(id)) === undefined) throw unknownSession(id);
    // not while somebody else records it
    await store.delete(id, this.#claims.get(id));
    this.#claims.delete(id);
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

  async #writer(store: SqliteStore, claim: Claim, fail: (error: unknown) => void): Promise<LogWriter> {
    return new LogWriter(store, claim, { head: await currentHead(store, claim.sessionId), fail });
  }
}

/** Claims a session, and ends what was open when its last recording was killed. */
async function claimed(
  store: SqliteStore,
  id: string,
  options: Pick<ClaimOptions, "takeOver"> = {},
): Promise<Claim> {
  const claim = await store.claim(id, options);
  return orReleased(store, claim, async () => {
    const open = await interruptedEntries(store, id);
    if (open.length === 0) return claim;
    // `flush` rejects with every failure
    const writer = new LogWriter(store, claim, { head: await currentHead(store, id), fail: () => undefined });
    for (const body of open) writer.append(body);
    writer.settle();
    await writer.flush({ isSynced: true });
    return claim;
  });
}

/** Releases the claim if the work that needs it fails: the session would stay busy until the process ends. */
async function orReleased<Result>(
  store: SqliteStore,
  claim: Claim,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // the first failure is the one to report
    await store.release(claim).catch(() => undefined);
    throw error;
  }
}

/** An agent may give the id of an older session to a new one. The older session then gets another id. */
async function freeAgentSession(
  store: SqliteStore,
  { agent, agentSessionId }: Pick<HistorySession, "agent" | "agentSessionId">,
): Promise<void> {
  const older = await store.find(agentKey(agent), agentSessionId);
  if (older !== undefined)
    await store.patch(older.sessionId, { agentSessionId: `${agentSessionId} (before ${older.sessionId})` });
}

async function* allSessions(
  store: SqliteStore,
  of: Pick<SessionQuery, "cwd" | "agent"> = {},
): AsyncGenerator<HistorySession> {
  let cursor: string | undefined;
  do {
    const page = await store.list({ ...of, limit: pageSize, cursor });
    yield* page.sessions.map(sessionFrom);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** Throws a TypeError for a history that `openHistory` has not made. */
export function historyFile(history: History): HistoryFile {
  if (history instanceof HistoryFile) return history;
  throw new TypeError("history: expected what openHistory() of @parley/client/history returns");
}

function unknownSession(id: string): RequestError {
  return new RequestError("session_not_found", `no session ${id} in the history`);
}
