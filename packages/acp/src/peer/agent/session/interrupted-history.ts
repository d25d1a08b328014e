// Completes a history whose process crashed: open tool calls have failed, and open turns were interrupted (F1, F11).

import { RequestError } from "../../../jsonrpc/errors.ts";
import type { EntryBody } from "../../../model/entry.ts";
import { emptyHead, foldHead } from "../../../model/head.ts";
import type { SessionHead } from "../../../model/store.ts";
import type { SessionUpdate } from "../../../model/update.ts";
import { beginsToolCall, finalStatuses } from "./announced-work.ts";
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
  const open = new OpenThings(before.settledSeq > 0);
  const history = store.history(sessionId);
  if (before.settledSeq < lastSeq) {
    for await (const page of history.pages(before.settledSeq + 1)) {
      for (const each of page) {
        const entry = history.read(each);
        open.follow(entry);
        if (entry.seq > before.seq) state = foldHead(state, entry, entry.seq);
      }
    }
  }
  return { head: { lastSeq, state: { ...state, seq: lastSeq } }, missing: open.ends() };
}

/** Tracks what has begun and not ended, with the entry that would end it. */
class OpenThings {
  readonly #parts = new Map<string, EntryBody>();
  readonly #prompts = new Map<string, EntryBody>();
  /** An ended part stays ended, whatever a later update leaves out. */
  readonly #over = new Set<string>();
  /** Earlier entries were not read: an update that begins nothing belongs to what ended there. */
  readonly #hasPast: boolean;

  constructor(hasPast: boolean) {
    this.#hasPast = hasPast;
  }

  follow(entry: EntryBody): void {
    switch (entry.kind) {
      case "prompt":
      case "inbox": {
        const { messageId } = entry;
        const end: EntryBody = { kind: "result", messageId, result: { stopReason: "_interrupted" } };
        this.#prompts.set(messageId, end);
        return;
      }
      case "result":
        this.#prompts.delete(entry.messageId);
        return;
      case "ask": {
        const { askId } = entry;
        const end: EntryBody =
          "permission" in entry
            ? { kind: "answer", askId, permission: { outcome: "cancelled" } }
            : { kind: "answer", askId, elicitation: { action: "cancel" } };
        this.#parts.set(`ask ${askId}`, end);
        return;
      }
      case "answer":
        this.#parts.delete(`ask ${entry.askId}`);
        return;
      case "update":
        this.#update(entry.update);
    }
  }

  /** The ends of tool calls come before the end of their turn. */
  ends(): EntryBody[] {
    return [...this.#parts.values(), ...this.#prompts.values()];
  }

  #update(update: SessionUpdate): void {
    const { sessionUpdate } = update;
    if (sessionUpdate === "tool_call_update") {
      const { toolCallId, status } = update;
      const end: SessionUpdate = { sessionUpdate, toolCallId, status: "failed" };
      this.#part(toolCallId, finalStatuses.has(status), end, beginsToolCall(update));
    } else if (sessionUpdate === "terminal_update") {
      const { terminalId, exitStatus, command, cwd } = update;
      const end: SessionUpdate = { sessionUpdate, terminalId, exitStatus: {} };
      this.#part(terminalId, exitStatus != null, end, command != null || cwd != null);
    } else if (sessionUpdate === "compaction_update") {
      const { compactionId, status } = update;
      const end: SessionUpdate = { sessionUpdate, compactionId, status: "failed" };
      this.#part(compactionId, finalStatuses.has(status), end, true);
    }
  }

  #part(id: string, hasEnded: boolean, end: SessionUpdate, canBegin: boolean): void {
    const key = `${end.sessionUpdate} ${id}`;
    const isOld = this.#hasPast && !canBegin && !this.#parts.has(key);
    if (hasEnded || isOld) this.#over.add(key);
    if (this.#over.has(key)) this.#parts.delete(key);
    else this.#parts.set(key, { kind: "update", update: end });
  }
}
