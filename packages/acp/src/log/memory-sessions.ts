// The sessions of a store in memory: what is kept of each, appends and lists.

import { normalPath } from "../base/normal-path.ts";
import { optional } from "../base/objects.ts";
import type {
  AppendOptions,
  Claim,
  SessionHead,
  SessionPage,
  SessionQuery,
  SessionRecord,
  StoredCommand,
  StoredEntry,
  StoredSession,
  TextMatch,
} from "../model/store.ts";
import { type EntryPage, entriesOf, entryPage, pagesForwards } from "./entry-pages.ts";
import { messageMatch, type SearchTerm, searchTerms } from "./message-search.ts";
import {
  checkBatch,
  cursorAfter,
  isListed,
  type ListPosition,
  outOfSequence,
  pageSize,
  positionFromCursor,
} from "./store-rules.ts";
import { cursorText, type Epoch, placeOf, type Wakers } from "./store-tail.ts";

/** A session in memory. It has few objects, because an agent without a store of its own may hold thousands of sessions. */
export interface MemorySession {
  record: SessionRecord;
  /** Forks share pages with their source, so pages are never changed. */
  readonly pages: EntryPage[];
  lastSeq: number;
  readonly epochs: Epoch[];
  /** Undefined when nobody holds it. */
  claim: (Claim & { readonly since: number }) | undefined;
  head: Pick<SessionHead, "state" | "position"> | undefined;
  /** This and the next two are undefined until they are needed, because most sessions need none of them. */
  commands: StoredCommand[] | undefined;
  seen: Map<string, number> | undefined;
  wakers: Wakers | undefined;
  isDeleted: boolean;
}

export function append(
  session: MemorySession,
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

/** Whether the session has exactly these entries after the entry `after`, and no others. */
function isStored(
  { pages, lastSeq }: MemorySession,
  after: number,
  entries: readonly StoredEntry[],
): boolean {
  const to = entries.at(-1);
  if (to === undefined || (to.through ?? to.seq) > lastSeq) return false;
  const range = { from: after + 1, to: to.seq, size: entries.length, isBackwards: false };
  const [page] = pagesForwards(pages, range);
  return JSON.stringify(page?.map(inOrder)) === JSON.stringify(entries.map(inOrder));
}

function inOrder({ format, seq, through, time, kind, tag, text }: StoredEntry): unknown {
  return [format, seq, through, time, kind, tag, text];
}

export function stored({ record, epochs, lastSeq, head }: MemorySession): StoredSession {
  const cursor = cursorText(placeOf(epochs, lastSeq));
  return {
    ...copyOf(record),
    head: { epoch: epochs.at(-1)?.epoch ?? 0, lastSeq, cursor, ...copyOf(head ?? {}) },
  };
}

export function pageOf(sessions: readonly MemorySession[], query: SessionQuery): SessionPage {
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

function matchOf({ pages, lastSeq }: MemorySession, terms: readonly SearchTerm[]): TextMatch | undefined {
  return messageMatch(
    pages.flatMap((page) => [...entriesOf(page, 1, lastSeq)]),
    terms,
  );
}

function newestFirst(one: ListPosition, other: ListPosition): number {
  if (one.updatedAt !== other.updatedAt) return other.updatedAt - one.updatedAt;
  if (one.sessionId === other.sessionId) return 0;
  return one.sessionId > other.sessionId ? -1 : 1;
}

export function copyOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}
