// Shows a prompt once that was sent again: after a crash, a login, a pause or a loss, when nothing was done about it.

import type { Entry } from "@parley/acp";
import { turnEntry } from "@parley/acp/extensions";
import { beginsWork } from "../history/begins-work.ts";

interface LastPrompt {
  readonly messageId: string;
  readonly content: string;
  /** Whether it ended without an answer, in which turn. */
  failed?: { readonly turn: number | undefined };
}

/** The results of a prompt about which the agent may have done nothing. */
const failures: ReadonlySet<string> = new Set(["_interrupted", "error"]);

export class ResentPrompts {
  #last: LastPrompt | undefined;
  /** The first message of a prompt, by a later one. */
  readonly #same = new Map<string, string>();

  /** The entry as it is shown, or undefined. `turn` is the start of the turn that runs; history has none. */
  shown(entry: Entry, turn: number | undefined): Entry | undefined {
    if (entry.kind === "prompt")
      return this.#isAgain(entry.messageId, entry.prompt, turn) ? undefined : entry;
    if (entry.kind === "result") return this.#result(entry, turn);
    // the same words in the next turn are another prompt
    if (entry.kind === "extension" && entry.name === turnEntry) this.#last = undefined;
    if (entry.kind !== "update") return entry;
    const { update } = entry;
    if (beginsWork(update)) this.#last = undefined;
    if (update.sessionUpdate !== "user_message" || !("messageId" in update)) return entry;
    const content = "content" in update ? update.content : undefined;
    return this.#isAgain(String(update.messageId), content, turn) ? undefined : entry;
  }

  /** A prompt comes as an entry and as an update, in either order. */
  #isAgain(messageId: string, blocks: unknown, turn: number | undefined): boolean {
    if (this.#same.has(messageId)) return true;
    if (this.#last?.messageId === messageId) return false;
    const content = JSON.stringify(blocks);
    const { failed } = this.#last ?? {};
    if (this.#last?.content === content && failed !== undefined && failed.turn === turn) {
      this.#same.set(messageId, this.#last.messageId);
      delete this.#last.failed;
      return true;
    }
    this.#last = { messageId, content };
    return false;
  }

  #result(entry: Extract<Entry, { kind: "result" }>, turn: number | undefined): Entry {
    const messageId = this.#same.get(entry.messageId) ?? entry.messageId;
    if (failures.has(entry.result.stopReason) && this.#last?.messageId === messageId)
      this.#last.failed = { turn };
    return { ...entry, messageId };
  }
}
