// The end of a session's log, with its state.

import { RequestError } from "../jsonrpc/errors.ts";
import { parseEntry } from "../model/entry-format.ts";
import { emptyHead, foldHead, type HeadState, isHeadTag } from "../model/head.ts";
import type { SessionHead, SessionStore, StoredEntry } from "../model/store.ts";

/**
 * Reads the head of a session, with the state after its last entry. The stored state may lack entries that an older version wrote.
 * These entries are read and counted.
 *
 * @param store The store of the session.
 * @param sessionId The id of the session. Claim it first, so that nobody else appends to it.
 * @returns The head, for `LogWriter`.
 * @throws {RequestError} Of kind "session_not_found", when the id is unknown.
 * @example
 * import { currentHead, type SessionStore } from "@parley/acp/store";
 *
 * export async function openQuestions(store: SessionStore, sessionId: string): Promise<readonly string[]> {
 *   const { state } = await currentHead(store, sessionId);
 *   return state.questions.map(({ title }) => title);
 * }
 */
export async function currentHead(
  store: Pick<SessionStore, "get" | "read">,
  sessionId: string,
): Promise<SessionHead & { readonly state: HeadState }> {
  const head = await storedHead(store, sessionId);
  let { state } = head;
  if (state.seq < head.lastSeq)
    for await (const page of store.read(sessionId, { from: state.seq + 1, to: head.lastSeq }))
      for (const entry of page) state = foldStored(state, entry);
  return { ...head, state: stateAt(state, head.lastSeq) };
}

/** The head as it is stored. A state that counts entries which are not there is not used. */
export async function storedHead(
  store: Pick<SessionStore, "get">,
  sessionId: string,
): Promise<SessionHead & { readonly state: HeadState }> {
  const stored = await store.get(sessionId);
  if (stored === undefined) throw RequestError.sessionNotFound(sessionId);
  const { state = emptyHead, ...head } = stored.head;
  return { ...head, state: state.seq <= head.lastSeq ? state : emptyHead };
}

/** The state when all entries up to the last one have been counted. */
export function stateAt({ forkedAt = 0, ...state }: HeadState, lastSeq: number): HeadState {
  const isOpen = ({ seq }: { readonly seq: number }): boolean => seq > forkedAt;
  const [prompts, questions] = [state.prompts.filter(isOpen), state.questions.filter(isOpen)];
  return { ...state, prompts, questions, seq: lastSeq };
}

function foldStored(state: HeadState, stored: StoredEntry): HeadState {
  const { kind, tag, seq } = stored;
  return kind === "update" && !isHeadTag(tag ?? "") ? state : foldHead(state, parseEntry(stored), seq);
}
