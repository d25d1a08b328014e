// Shows a prompt once that was sent twice: an agent that crashed before it said a word is started again and gets it again.

import type { Entry } from "@parley/acp";

interface LastPrompt {
  readonly messageId: string;
  readonly content: string;
  /** Whether it ended without an answer, in which turn. */
  interrupted?: { readonly turn: number | undefined };
}

export class ResentPrompts {
  #last: LastPrompt | undefined;
  /** The first message of a prompt, by a later one. */
  readonly #same = new Map<string, string>();

  /** The entry as it is shown, or undefined. `turn` is the start of the turn that runs; history has none. */
  shown(entry: Entry, turn: number | undefined): Entry | undefined {
    if (entry.kind === "prompt") return this.#same.has(entry.messageId) ? undefined : entry;
    if (entry.kind === "result") return this.#result(entry, turn);
    if (entry.kind !== "update") return entry;
    const { update } = entry;
    if (update.sessionUpdate === "state_update") return entry;
    if (update.sessionUpdate !== "user_message" || !("messageId" in update)) {
      // something was said
      this.#last = undefined;
      return entry;
    }
    const messageId = String(update.messageId);
    const content = JSON.stringify("content" in update ? update.content : undefined);
    const { interrupted } = this.#last ?? {};
    if (this.#last?.content === content && interrupted !== undefined && interrupted.turn === turn) {
      this.#same.set(messageId, this.#last.messageId);
      delete this.#last.interrupted;
      return undefined;
    }
    this.#last = { messageId, content };
    return entry;
  }

  #result(entry: Extract<Entry, { kind: "result" }>, turn: number | undefined): Entry {
    const messageId = this.#same.get(entry.messageId) ?? entry.messageId;
    const isInterrupted = entry.result.stopReason === "_interrupted";
    if (isInterrupted && this.#last?.messageId === messageId) this.#last.interrupted = { turn };
    return { ...entry, messageId };
  }
}
