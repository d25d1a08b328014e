// A prompt on its way, as its sender sees it.

import type { Outcome, Update } from "../model/update.ts";

/** Updates kept for an iterator that has not begun yet. */
const backlogLimit = 1_024;

export class Prompt implements AsyncIterable<Update> {
  /** The id of the message, once it is part of the conversation. Rejects when the agent refuses it. */
  readonly accepted: Promise<string>;
  /** How the work ended. A cancel is an outcome, never a throw. Rejects when the agent refuses or dies. */
  readonly outcome: Promise<Outcome>;
  readonly #accepted = Promise.withResolvers<string>();
  readonly #outcome = Promise.withResolvers<Outcome>();
  readonly #cancel: () => void;
  #backlog: Update[] = [];
  #next = 0;
  #iterated = false;
  #overrun = false;
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  /** @internal */
  constructor(cancel: () => void) {
    this.#cancel = cancel;
    this.accepted = this.#accepted.promise;
    this.outcome = this.#outcome.promise;
    // whoever looks at one of the two must not be killed by the other
    this.accepted.catch(() => undefined);
    this.outcome.catch(() => undefined);
  }

  /** Ends the work on this prompt, or withdraws it while it waits. Its outcome is "cancelled". */
  cancel(): void {
    this.#cancel();
  }

  /** Everything that happens in the session while this prompt is open. Ends with its outcome. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Update, void> {
    this.#iterated = true;
    try {
      yield* this.#updates();
    } finally {
      // whoever has stopped looking needs nothing kept
      this.#overrun = true;
      this.#backlog = [];
    }
  }

  async *#updates(): AsyncGenerator<Update, void> {
    for (;;) {
      while (this.#next < this.#backlog.length) {
        const update = this.#backlog[this.#next++];
        if (this.#next > backlogLimit) {
          this.#backlog = this.#backlog.slice(this.#next);
          this.#next = 0;
        }
        if (update !== undefined) yield update;
      }
      if (this.#ended) {
        if (this.#failure !== undefined) throw this.#failure;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** @internal */
  push(update: Update): void {
    if (this.#overrun) return;
    if (!this.#iterated && this.#backlog.length >= backlogLimit) {
      // nobody iterates: the session's own listeners have seen it all
      this.#overrun = true;
      this.#backlog = [];
      return;
    }
    this.#backlog.push(update);
    this.#wake?.();
  }

  /** @internal */
  accept(messageId: string): void {
    this.#accepted.resolve(messageId);
  }

  /** @internal */
  end(outcome: Outcome, messageId: string): void {
    this.#accepted.resolve(messageId);
    this.#finish();
    this.#outcome.resolve(outcome);
  }

  /** @internal */
  fail(error: Error): void {
    this.#failure = error;
    this.#accepted.reject(error);
    this.#finish();
    this.#outcome.reject(error);
  }

  #finish(): void {
    this.#ended = true;
    this.#wake?.();
  }
}
