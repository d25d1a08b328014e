// A prompt on its way, as its sender sees it.

import { ConnectionError, type RequestError } from "../jsonrpc/errors.ts";
import type { Outcome, Update } from "../model/update.ts";

/** Updates kept for an iterator that has not begun yet. */
const backlogLimit = 1_024;

export class Prompt implements AsyncIterable<Update> {
  /** The id of the message, once it is part of the conversation. Rejects when it never will be. */
  readonly accepted: Promise<string>;
  /**
   * How the work ended. A cancel is an outcome, and so is an error that the agent reports, with stop reason "error".
   * Rejects only when there is no answer: the agent has died or the connection has ended.
   */
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
  end(outcome: Outcome): void {
    // no-op for one that was accepted; one that was withdrawn will never be
    this.#accepted.reject(new ConnectionError("aborted", "the prompt was withdrawn before it was accepted"));
    this.#finish();
    this.#outcome.resolve(outcome);
  }

  /** @internal The agent said no, or failed: an outcome like any other, in every version. */
  refuse(error: RequestError): void {
    this.#accepted.reject(error);
    this.#finish();
    const { code, message, data } = error;
    this.#outcome.resolve({
      stopReason: "error",
      error: { code, message, ...(data === undefined ? {} : { data }) },
    });
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
