// Runs the questions of an agent about one session, and answers them as cancelled when the user cancels.

export class OpenQuestions {
  readonly #open = new Set<AbortController>();
  #isCancelling = false;
  #cancels = 0;

  /** How often the open questions were cancelled. */
  get cancels(): number {
    return this.#cancels;
  }

  /** Runs the handler; a cancelled question is answered at once, whatever the handler does. */
  async answer<Answer>(
    signal: AbortSignal,
    cancelled: Answer,
    handler: (signal: AbortSignal) => Promise<Answer> | Answer,
  ): Promise<Answer> {
    if (this.#isCancelling || signal.aborted) return cancelled;
    const question = new AbortController();
    this.#open.add(question);
    const either = AbortSignal.any([signal, question.signal]);
    try {
      const aborted = new Promise<Answer>((resolve) => {
        either.addEventListener("abort", () => resolve(cancelled), { once: true });
      });
      return await Promise.race([handler(either), aborted]);
    } finally {
      this.#open.delete(question);
    }
  }

  abort(): void {
    this.#cancels++;
    for (const question of this.#open) question.abort();
  }

  /** Until `accept`, further questions are answered as cancelled. */
  refuse(): void {
    this.#isCancelling = true;
  }

  accept(): void {
    this.#isCancelling = false;
  }
}
