// Completes a history whose process crashed: open tool calls have failed, and open turns were interrupted (F1, F11).

import { RequestError } from "../../../jsonrpc/errors.ts";
import { OpenWork } from "../../../log/interrupted-entries.ts";
import type { EntryBody } from "../../../model/entry.ts";
import { emptyHead, foldHead } from "../../../model/head.ts";
import type { SessionHead } from "../../../model/store.ts";
import type { GuardedStore } from "./guarded-store.ts";

/** The end of a session's log, and the entries to append after it because a crash prevented them. */
export interface HistoryEnd {
  readonly head: Pick<SessionHead, "lastSeq" | "state">;
  readonly missing: readonly EntryBody[];
}

/** Reads the entries after the last point at which nothing was open. These are few. */
export async function historyEnd(store: GuardedStore, sessionId: string): Promise<HistoryEnd> {
  const head = (await store.get(sessionId))?.head;
  if (head === undefined) throw RequestError.sessionNotFound(sessionId);
  const { lastSeq, state: stored } = head;
  // a state that counts lost entries is not used
  const before = stored === undefined || stored.seq > lastSeq ? emptyHead : stored;
  let state = before;
  const open = new OpenWork(before.settledSeq > 0);
  const history = store.history(sessionId);
  if (before.settledSeq < lastSeq) {
    for await (const page of history.pages({ from: before.settledSeq + 1 })) {
      for (const each of page) {
        const entry = history.read(each);
        open.follow(entry);
        if (entry.seq > before.seq) state = foldHead(state, entry, entry.seq);
      }
    }
  }
  return { head: { lastSeq, state: { ...state, seq: lastSeq } }, missing: open.ends() };
}
