// A session store in memory, for tests and for applications that keep no history.

import { optional } from "../base/objects.ts";
import type {
  Claim,
  ClaimOptions,
  SessionRecord,
  SessionStore,
  StoredCommand,
  TailEvent,
} from "../model/store.ts";
import { pagesBackwards, pagesForwards, pagesUpTo } from "./entry-pages.ts";
import { append, copyOf, type MemorySession, pageOf, stored } from "./memory-sessions.ts";
import {
  agentSessionExists,
  checkCommand,
  fenced,
  forked,
  forkedState,
  heldElsewhere,
  isSameJson,
  keyReused,
  patched,
  rangeOf,
  readableCursor,
  sessionExists,
  unknownSession,
} from "./store-rules.ts";
import { agreedSeq, cursorText, following, placeOf, Wakers } from "./store-tail.ts";

/**
 * Makes a store that keeps sessions in memory, for tests and for agents that keep no history. Agents without a store use
 * one of their own.
 *
 * @returns The store. Everything in it is gone after `close`.
 * @example
 * import { agent } from "@parley/acp";
 * import { memoryStore } from "@parley/acp/store";
 *
 * const store = memoryStore();
 * const echo = agent({
 *   name: "echo",
 *   version: "1.0.0",
 *   session: { store },
 *   prompt: async (turn) => turn.say(turn.text),
 * });
 * console.log(echo.definition.name, (await store.list()).sessions.length);
 */
export function memoryStore(): SessionStore & AsyncDisposable {
  const sessions = new Map<string, MemorySession>();
  // differs from that of other stores, so that their cursors are not taken for cursors of this one
  const nonce = crypto.randomUUID().slice(0, 8);
  let claims = 0;
  const moved = new Wakers();
  /** What each reader of `changes` has not read yet. */
  const unread = new Set<Set<string>>();
  let isClosed = false;

  function checkOpen(): void {
    if (isClosed) throw new Error("the session store is closed");
  }

  async function close(): Promise<void> {
    isClosed = true;
    for (const session of sessions.values()) session.wakers?.wake();
    sessions.clear();
    moved.wake();
  }

  function held(sessionId: string): MemorySession {
    checkOpen();
    const session = sessions.get(sessionId);
    if (session === undefined) throw unknownSession(sessionId);
    return session;
  }

  function touched(session: MemorySession): void {
    session.wakers?.wake();
    for (const ids of unread) ids.add(session.record.sessionId);
    moved.wake();
  }

  function add(
    record: SessionRecord,
    { pages, lastSeq, head }: Pick<MemorySession, "pages" | "lastSeq" | "head">,
    options: ClaimOptions = {},
  ): Claim {
    checkOpen();
    const { sessionId } = record;
    if (sessions.has(sessionId)) throw sessionExists(sessionId);
    checkAgentSession(record);
    const session: MemorySession = {
      record: copyOf(record),
      pages,
      lastSeq,
      epochs: [],
      claim: undefined,
      head,
      commands: undefined,
      seen: undefined,
      wakers: undefined,
      isDeleted: false,
    };
    sessions.set(sessionId, session);
    touched(session);
    return claimOf(session, options);
  }

  function sessionOfAgent(
    agent: string | undefined,
    agentSessionId: string | undefined,
  ): MemorySession | undefined {
    if (agent === undefined || agentSessionId === undefined) return undefined;
    for (const session of sessions.values()) {
      const { record } = session;
      if (record.agent === agent && record.agentSessionId === agentSessionId) return session;
    }
    return undefined;
  }

  function checkAgentSession({ sessionId, agent, agentSessionId }: SessionRecord): void {
    const other = sessionOfAgent(agent, agentSessionId)?.record.sessionId;
    if (other !== undefined && other !== sessionId) throw agentSessionExists(other);
  }

  function claimOf(session: MemorySession, { leaseMs }: ClaimOptions): Claim {
    const { sessionId } = session.record;
    // an epoch is never used again: a claim of a deleted session must not be valid for a new session with the same id
    const epoch = ++claims;
    // claims under which nothing was appended leave no trace
    if (session.epochs.at(-1)?.after === session.lastSeq) session.epochs.pop();
    session.epochs.push({ epoch, nonce, after: session.lastSeq });
    const since = Date.now();
    session.claim = { sessionId, epoch, since, ...(leaseMs === undefined ? {} : { until: since + leaseMs }) };
    const { since: _, ...claim } = session.claim;
    return claim;
  }

  /** Throws when the session was claimed again, or released. */
  function checkHeld({ sessionId, epoch }: Claim): MemorySession {
    const session = held(sessionId);
    if (session.claim?.epoch !== epoch) throw fenced(sessionId);
    return session;
  }

  function isHeld({ claim }: MemorySession): boolean {
    return claim !== undefined && (claim.until === undefined || claim.until > Date.now());
  }

  function checkFree(session: MemorySession, own?: Claim): void {
    const { claim } = session;
    if (claim === undefined || !isHeld(session) || claim.epoch === own?.epoch) return;
    throw heldElsewhere(session.record.sessionId, { since: claim.since });
  }

  async function* followed<Found>(
    session: MemorySession,
    load: () => { readonly found?: Found; readonly isOver?: boolean },
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Found, void> {
    session.wakers ??= new Wakers();
    const { wakers } = session;
    yield* following(
      async () => {
        checkOpen();
        return load();
      },
      (woken) => wakers.wait(woken),
      signal,
    );
  }

  return {
    async create(record, options) {
      return add(record, { pages: [], lastSeq: 0, head: undefined }, options);
    },
    async get(sessionId) {
      checkOpen();
      const session = sessions.get(sessionId);
      return session && stored(session);
    },
    async find(agent, agentSessionId) {
      checkOpen();
      const session = sessionOfAgent(agent, agentSessionId);
      return session && stored(session);
    },
    async patch(sessionId, patch) {
      const session = held(sessionId);
      const record = copyOf(patched(session.record, patch));
      checkAgentSession(record);
      session.record = record;
      touched(session);
    },
    async list(query = {}) {
      checkOpen();
      return pageOf([...sessions.values()], query);
    },
    async fork(sessionId, record, options = {}) {
      const source = held(sessionId);
      const { atSeq = source.lastSeq } = options;
      const origin = pagesUpTo(source.pages, atSeq);
      const whole = origin.lastSeq === source.lastSeq ? source.head?.state : undefined;
      const state = forkedState(whole, origin.lastSeq);
      return add(forked(source.record, record), { ...origin, head: state && { state } }, options);
    },
    async delete(sessionId, claim) {
      checkOpen();
      const session = sessions.get(sessionId);
      if (session === undefined) return;
      checkFree(session, claim);
      session.isDeleted = true;
      sessions.delete(sessionId);
      touched(session);
    },
    async claim(sessionId, options = {}) {
      const session = held(sessionId);
      if (options.takeOver !== true) checkFree(session);
      return claimOf(session, options);
    },
    async renew(claim, leaseMs) {
      const session = checkHeld(claim);
      const until = Date.now() + leaseMs;
      session.claim = { ...claim, since: session.claim?.since ?? until, until };
      return { ...claim, until };
    },
    async release(claim) {
      checkOpen();
      const session = sessions.get(claim.sessionId);
      if (session?.claim?.epoch === claim.epoch) session.claim = undefined;
    },
    async append(claim, after, entries, options = {}) {
      const session = checkHeld(claim);
      append(session, after, entries, options);
      touched(session);
    },
    async *read(sessionId, range = {}) {
      const session = held(sessionId);
      const { pages, lastSeq } = session;
      const wanted = rangeOf(range, lastSeq);
      const all = wanted.isBackwards ? pagesBackwards(pages, wanted) : pagesForwards(pages, wanted);
      for (const page of all) {
        if (held(sessionId) !== session) throw unknownSession(sessionId);
        yield page;
      }
    },
    async *tail(sessionId, cursor, { signal } = {}) {
      const session = held(sessionId);
      let seq = 0;
      let isChecked = cursor === undefined;
      yield* followed<TailEvent>(
        session,
        () => {
          if (session.isDeleted) return { found: { kind: "deleted" }, isOver: true };
          const { epochs, lastSeq, pages } = session;
          if (!isChecked) {
            const place = readableCursor(cursor ?? "");
            const agreed = agreedSeq(epochs, place, lastSeq);
            if (agreed < place.seq)
              return { found: { kind: "gap", cursor: cursorText(placeOf(epochs, agreed)) }, isOver: true };
            seq = place.seq;
            isChecked = true;
          }
          const [entries] = pagesForwards(pages, rangeOf({ from: seq + 1 }, lastSeq));
          const last = entries?.at(-1);
          if (entries === undefined || last === undefined) return {};
          seq = last.through ?? last.seq;
          return { found: { kind: "entries", entries, cursor: cursorText(placeOf(epochs, seq)) } };
        },
        signal,
      );
    },
    async submit(sessionId, given, check) {
      const session = held(sessionId);
      const command = copyOf(given);
      checkCommand(command);
      const known = session.commands?.find(
        ({ key, principal }) => key === command.key && principal === command.principal,
      );
      if (known !== undefined) {
        if (!isSameJson(known.body, command.body)) throw keyReused(command.key);
        return copyOf(known);
      }
      check?.(stored(session));
      const { key, principal, body } = command;
      session.commands ??= [];
      const number = session.commands.length + 1;
      const added: StoredCommand = { number, time: Date.now(), key, body, ...optional({ principal }) };
      session.commands.push(added);
      touched(session);
      return copyOf(added);
    },
    async *commands(sessionId, { signal } = {}) {
      const session = held(sessionId);
      let last = 0;
      yield* followed<readonly StoredCommand[]>(
        session,
        () => {
          if (session.isDeleted) return { isOver: true };
          const open = (session.commands ?? []).filter(
            ({ number, outcome }) => number > last && outcome === undefined,
          );
          last = session.commands?.length ?? 0;
          return open.length === 0 ? {} : { found: open.map(copyOf) };
        },
        signal,
      );
    },
    async *changes({ signal } = {}) {
      checkOpen();
      const ids = new Set<string>();
      unread.add(ids);
      try {
        yield* following<readonly string[]>(
          async () => {
            checkOpen();
            const found = [...ids];
            ids.clear();
            return found.length === 0 ? {} : { found };
          },
          (woken) => moved.wait(woken),
          signal,
        );
      } finally {
        unread.delete(ids);
      }
    },
    async seen(sessionId, principal, seq = 0) {
      const session = held(sessionId);
      session.seen ??= new Map();
      const furthest = Math.max(session.seen.get(principal) ?? 0, Math.min(seq, session.lastSeq));
      session.seen.set(principal, furthest);
      return furthest;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
