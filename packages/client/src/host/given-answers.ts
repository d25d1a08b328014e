// Waits for the log to have the answers of the user.

import type { Entry } from "@parley/acp";

/** The entry of an answer comes a moment after it was given: the rules, and whoever audits them, are told first. */
export class GivenAnswers {
  /** The tool calls of open questions, by the ids of their entries. */
  readonly #calls = new Map<string, string>();
  readonly #waiting = new Set<{ readonly toolCallId: string | undefined; done(): void }>();

  heard(entry: Entry): void {
    if (entry.kind === "ask" && "permission" in entry) {
      const { subject } = entry.permission;
      // as: an unknown kind of subject has the same type of tag
      const call = subject as { readonly toolCall?: { readonly toolCallId?: string } } | undefined;
      this.#calls.set(entry.askId, call?.toolCall?.toolCallId ?? "");
    }
    if (entry.kind !== "answer") return;
    const call = this.#calls.get(entry.askId);
    this.#calls.delete(entry.askId);
    for (const each of this.#waiting)
      if (each.toolCallId === undefined || call === undefined || each.toolCallId === call) this.#done(each);
  }

  /** Resolves when the answer about this tool call was heard, or nobody waits for it any more. */
  next(toolCallId: string | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add({ toolCallId, done: resolve });
    return promise;
  }

  /** The turn is over, or the agent. */
  end(): void {
    for (const each of this.#waiting) this.#done(each);
  }

  #done(each: { done(): void }): void {
    this.#waiting.delete(each as never); // one of them
    each.done();
  }
}
