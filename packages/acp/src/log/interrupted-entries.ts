// What a crash left open in a session, and the entries that end it.

import type { Entry, EntryBody } from "../model/entry.ts";
import { parseEntry } from "../model/entry-format.ts";
import { foldHead } from "../model/head.ts";
import type { SessionHead, SessionStore, StoredEntry } from "../model/store.ts";
import type { SessionUpdate, ToolCallUpdate } from "../model/update.ts";
import { stateAt, storedHead } from "./current-head.ts";

/** The statuses of calls and compactions that have ended. */
export const finalStatuses: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);

/**
 * Finds what was open when the last holder of a session crashed. Append the entries: they end open tool calls as failed, questions as
 * cancelled and prompts as interrupted.
 *
 * @param store The store of the session.
 * @param sessionId The id of the session. Claim it first, so that nobody else appends to it.
 * @returns The entries to append; none if nothing is open.
 * @throws {RequestError} Of kind "session_not_found", when the id is unknown.
 * @example
 * import { currentHead, interruptedEntries, LogWriter, type SessionStore } from "@parley/acp/store";
 *
 * export async function reopen(store: SessionStore, sessionId: string): Promise<LogWriter> {
 *   const claim = await store.claim(sessionId);
 *   const head = await currentHead(store, sessionId);
 *   const writer = new LogWriter(store, claim, { head, fail: (error) => console.error(error) });
 *   for (const body of await interruptedEntries(store, sessionId)) writer.append(body);
 *   return writer;
 * }
 */
export async function interruptedEntries(
  store: Pick<SessionStore, "get" | "read">,
  sessionId: string,
): Promise<readonly EntryBody[]> {
  return (await logEnd(store, sessionId, parseEntry)).missing;
}

/** The head of a session, and the entries to append after it because a crash prevented them. */
export async function logEnd(
  store: Pick<SessionStore, "get" | "read">,
  sessionId: string,
  parse: (stored: StoredEntry) => Entry,
): Promise<{ readonly head: SessionHead; readonly missing: readonly EntryBody[] }> {
  const head = await storedHead(store, sessionId);
  const { lastSeq, state: before } = head;
  let state = before;
  const open = new OpenWork(before.settledSeq > 0);
  // one reading for both; these entries are few
  if (before.settledSeq < lastSeq)
    for await (const page of store.read(sessionId, { from: before.settledSeq + 1, to: lastSeq }))
      for (const each of page) {
        const entry = parse(each);
        open.follow(entry);
        if (each.seq > before.seq) state = foldHead(state, entry, each.seq);
      }
  return { head: { ...head, state: stateAt(state, lastSeq) }, missing: open.ends() };
}

/** Tracks what has begun and not ended, with the entry that would end it. */
export class OpenWork {
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

/** Whether an update can be the first one of its tool call. */
export function beginsToolCall({ status, title, name, kind }: ToolCallUpdate): boolean {
  return status != null || title != null || name != null || kind != null;
}
