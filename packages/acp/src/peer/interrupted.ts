// A history whose process died in the middle: what had begun is ended before anybody looks at it again. Nobody knows
// how far it came, so a call has failed, and the turn was interrupted (F1, F11).

import type { Entry, EntryBody } from "../model/entry.ts";
import type { Update } from "../model/update.ts";

/** Where a history goes on, and the entries that it lacks. */
export interface HistoryEnd {
  readonly nextSeq: number;
  readonly missing: readonly EntryBody[];
}

export async function historyEnd(entries: AsyncIterable<Entry>): Promise<HistoryEnd> {
  const open = new OpenThings();
  let last = 0;
  for await (const entry of entries) {
    last = entry.seq;
    open.follow(entry);
  }
  return { nextSeq: last + 1, missing: open.ends() };
}

const finalStatuses: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);

/** For each thing that has begun and not ended, the entry that would end it. */
class OpenThings {
  readonly #parts = new Map<string, EntryBody>();
  readonly #prompts = new Map<string, EntryBody>();
  /** What has ended stays so, also when a later patch does not say it again. */
  readonly #over = new Set<string>();

  follow(entry: EntryBody): void {
    switch (entry.kind) {
      case "prompt": {
        const { messageId } = entry;
        const end: EntryBody = { kind: "outcome", messageId, outcome: { stopReason: "_interrupted" } };
        this.#prompts.set(messageId, end);
        return;
      }
      case "outcome":
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

  /** The end of a turn comes behind the ends of what was part of it. */
  ends(): EntryBody[] {
    return [...this.#parts.values(), ...this.#prompts.values()];
  }

  #update(update: Update): void {
    const { sessionUpdate } = update;
    if (sessionUpdate === "tool_call_update") {
      const { toolCallId, status } = update;
      this.#part(toolCallId, finalStatuses.has(status), { sessionUpdate, toolCallId, status: "failed" });
    } else if (sessionUpdate === "terminal_update") {
      const { terminalId, exitStatus } = update;
      this.#part(terminalId, exitStatus != null, { sessionUpdate, terminalId, exitStatus: {} });
    } else if (sessionUpdate === "compaction_update") {
      const { compactionId, status } = update;
      this.#part(compactionId, finalStatuses.has(status), {
        sessionUpdate,
        compactionId,
        status: "failed",
      });
    }
  }

  #part(id: string, hasEnded: boolean, end: Update): void {
    const key = `${end.sessionUpdate} ${id}`;
    if (hasEnded) this.#over.add(key);
    if (this.#over.has(key)) this.#parts.delete(key);
    else this.#parts.set(key, { kind: "update", update: end });
  }
}
