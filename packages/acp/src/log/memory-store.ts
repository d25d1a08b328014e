// A session store in memory, for tests and for applications that keep no history.

import { normalPath } from "../base/normal-path.ts";
import { optional } from "../base/objects.ts";
import { type EntryPage, entriesOf, entryPage, pagesBackwards, pagesForwards } from "./entry-pages.ts";
import { messageMatch, type SearchTerm, searchTerms } from "./message-search.ts";
import type {
  AppendOptions,
  Claim,
  ClaimOptions,
  SessionHead,
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionStore,
  StoredCommand,
  StoredEntry,
  StoredSession,
  TailEvent,
} from "../model/store.ts";
import {
  checkBatch,
  checkCommand,
  cursorAfter,
  fenced,
  forked,
  heldElsewhere,
  isListed,
  keyReused,
  type ListPosition,
  outOfSequence,
  pageSize,
  patched,
  positionFromCursor,
  rangeOf,
  readableCursor,
  sessionExists,
  unknownSession,
} from "./store-rules.ts";
import { agreedSeq, cursorText, type Epoch, following, placeOf, Wakers } from "./store-tail.ts";

interface HeldSession {
  record: SessionRecord;
  /** The pages that it shares with other sessions are never changed. */
  readonly pages: EntryPage[];
  lastSeq: number;
  readonly epochs: Epoch[];
  /** Undefined when nobody holds it. */
  claim: (Claim & { readonly since: number }) | undefined;
  head: Pick<SessionHead, "state" | "position"> | undefined;
  /** Most sessions have none of these. */
  commands: StoredCommand[] | undefined;
  seen: Map<string, number> | undefined;
  wakers: Wakers | undefined;
  isDeleted: boolean;
}

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
  const sessions = new Map<string, HeldSession>();
  // a cursor of another store is none of this one
  const nonce = crypto.randomUUID().slice(0, 8);
  const moved = new Wakers();
  let changed = new Set<string>();
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

  function held(sessionId: string): HeldSession {
    checkOpen();
    const session = sessions.get(sessionId);
    if (session === undefined) throw unknownSession(sessionId);
    return session;
  }

  function touched(session: HeldSession): void {
    session.wakers?.wake();
    if (moved.isEmpty) return;
    changed.add(session.record.sessionId);
    moved.wake();
  }

  function add(
    record: SessionRecord,
    { pages, lastSeq }: Pick<HeldSession, "pages" | "lastSeq">,
    options: ClaimOptions = {},
  ): Claim {
    checkOpen();
    const { sessionId } = record;
    if (sessions.has(sessionId)) throw sessionExists(sessionId);
    const session: HeldSession = {
      record: copyOf(record),
      pages,
      lastSeq,
      epochs: [],
      claim: undefined,
      head: undefined,
      commands: undefined,
      seen: undefined,
      wakers: undefined,
      isDeleted: false,
    };
    sessions.set(sessionId, session);
    touched(session);
    return claimOf(session, options);
  }

  function claimOf(session: HeldSession, { leaseMs }: ClaimOptions): Claim {
    const { sessionId } = session.record;
    const epoch = (session.epochs.at(-1)?.epoch ?? 0) + 1;
    // claims under which nothing was appended leave no trace
    if (session.epochs.at(-1)?.after === session.lastSeq) session.epochs.pop();
    session.epochs.push({ epoch, nonce, after: session.lastSeq });
    const since = Date.now();
    session.claim = { sessionId, epoch, since, ...(leaseMs === undefined ? {} : { until: since + leaseMs }) };
    const { since: _, ...claim } = session.claim;
    return claim;
  }

  /** Throws when the session was claimed again, or released. */
  function checkHeld({ sessionId, epoch }: Claim): HeldSession {
    const session = held(sessionId);
    if (session.claim?.epoch !== epoch) throw fenced(sessionId);
    return session;
  }

  function isHeld({ claim }: HeldSession): boolean {
    return claim !== undefined && (claim.until === undefined || claim.until > Date.now());
  }

  function checkFree(session: HeldSession, own?: Claim): void {
    const { claim } = session;
    if (claim === undefined || !isHeld(session) || claim.epoch === own?.epoch) return;
    throw heldElsewhere(session.record.sessionId, { since: claim.since });
  }

  async function* followed<Found>(
    session: HeldSession,
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
      return add(record, { pages: [], lastSeq: 0 }, options);
    },
    async get(sessionId) {
      checkOpen();
      const session = sessions.get(sessionId);
      return session && stored(session);
    },
    async find(agent, agentSessionId) {
      checkOpen();
      for (const session of sessions.values()) {
        const { record } = session;
        if (record.agent === agent && record.agentSessionId === agentSessionId) return stored(session);
      }
      return undefined;
    },
    async patch(sessionId, patch) {
      const session = held(sessionId);
      session.record = copyOf(patched(session.record, patch));
      touched(session);
    },
    async list(query = {}) {
      checkOpen();
      return pageOf([...sessions.values()], query);
    },
    async fork(sessionId, record, options = {}) {
      const source = held(sessionId);
      const lastSeq = Math.min(options.atSeq ?? source.lastSeq, source.lastSeq);
      return add(forked(source.record, record), { pages: source.pages.slice(), lastSeq }, options);
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
      session.commands ??= [];
      const known = session.commands.find(
        ({ key, principal }) => key === command.key && principal === command.principal,
      );
      if (known !== undefined) {
        if (JSON.stringify(known.body) !== JSON.stringify(command.body)) throw keyReused(command.key);
        return copyOf(known);
      }
      check?.(stored(session));
      const { key, principal, body } = command;
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
      yield* following<readonly string[]>(
        async () => {
          checkOpen();
          const found = [...changed];
          changed = new Set();
          return found.length === 0 ? {} : { found };
        },
        (woken) => moved.wait(woken),
        signal,
      );
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

function append(
  session: HeldSession,
  after: number,
  entries: readonly StoredEntry[],
  { state, settles = [], position }: AppendOptions,
): void {
  const { sessionId } = session.record;
  checkBatch(sessionId, after, entries);
  if (session.lastSeq !== after) {
    if (!isStored(session, after, entries)) throw outOfSequence(sessionId, session.lastSeq, after);
    return;
  }
  const last = entries.at(-1);
  if (last !== undefined) {
    session.pages.push(entryPage(entries));
    session.lastSeq = last.through ?? last.seq;
  }
  if (state !== undefined || position !== undefined)
    session.head = { ...session.head, ...optional({ state: state && copyOf(state), position }) };
  for (const { number, outcome } of settles) {
    const command = session.commands?.[number - 1];
    if (command !== undefined && command.outcome === undefined && session.commands !== undefined)
      session.commands[number - 1] = { ...command, outcome: copyOf(outcome) };
  }
}

/** Whether the session has exactly these entries after the entry `after`. */
function isStored({ pages, lastSeq }: HeldSession, after: number, entries: readonly StoredEntry[]): boolean {
  const to = entries.at(-1);
  if (to === undefined || (to.through ?? to.seq) > lastSeq) return false;
  const range = rangeOf({ from: after + 1, to: to.seq, pageSize: entries.length }, lastSeq);
  const [page] = pagesForwards(pages, range);
  return JSON.stringify(page?.map(inOrder)) === JSON.stringify(entries.map(inOrder));
}

function inOrder({ format, seq, through, time, kind, tag, text }: StoredEntry): unknown {
  return [format, seq, through, time, kind, tag, text];
}

function stored({ record, epochs, lastSeq, head }: HeldSession): StoredSession {
  const cursor = cursorText(placeOf(epochs, lastSeq));
  return { ...copyOf(record), head: { epoch: epochs.at(-1)?.epoch ?? 0, lastSeq, cursor, ...copyOf(head ?? {}) } };
}

function pageOf(sessions: readonly HeldSession[], query: SessionQuery): SessionPage {
  const place = positionFromCursor(query);
  const size = pageSize(query);
  const cwd = query.cwd === undefined ? undefined : normalPath(query.cwd);
  const terms = query.text === undefined ? undefined : searchTerms(query.text);
  const found = sessions
    .filter(({ record }) => cwd === undefined || normalPath(record.cwd) === cwd)
    .filter(({ record }) => query.agent === undefined || record.agent === query.agent)
    .filter(({ record }) => query.principal === undefined || (record.principal ?? null) === query.principal)
    .filter(({ record }) => isListed(query, record.archived ?? false))
    .filter(({ record }) => place === undefined || newestFirst(place, record) < 0)
    .sort((one, other) => newestFirst(one.record, other.record));
  const page: StoredSession[] = [];
  for (const session of found) {
    const match = terms && matchOf(session, terms);
    if (terms !== undefined && match === undefined) continue;
    if (page.length === size) {
      const last = page.at(-1);
      return { sessions: page, ...(last && { nextCursor: cursorAfter(last, query) }) };
    }
    page.push({ ...stored(session), ...optional({ match }) });
  }
  return { sessions: page };
}

function matchOf({ pages, lastSeq }: HeldSession, terms: readonly SearchTerm[]) {
  return messageMatch(pages.flatMap((page) => [...entriesOf(page, 1, lastSeq)]), terms);
}

function newestFirst(one: ListPosition, other: ListPosition): number {
  if (one.updatedAt !== other.updatedAt) return other.updatedAt - one.updatedAt;
  if (one.sessionId === other.sessionId) return 0;
  return one.sessionId > other.sessionId ? -1 : 1;
}

function copyOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}
