// Runs the work on one session in order: what opens, closes and deletes it.

interface LastWork {
  readonly isShared: boolean;
  /** What it waits for. */
  readonly before: Promise<unknown> | undefined;
  readonly settled: Promise<unknown>;
}

export class SessionOrder {
  readonly #last = new Map<string, LastWork>();

  /** Settles when everything that has been begun has ended. */
  get ended(): Promise<unknown> {
    return Promise.all([...this.#last.values()].map(({ settled }) => settled));
  }

  /**
   * Runs work on a session after the work before it, whether that failed or not. Shared work runs at the same time as
   * the shared work directly before it.
   */
  async run<Result>(
    sessionId: string,
    work: () => Promise<Result>,
    { isShared = false } = {},
  ): Promise<Result> {
    const last = this.#last.get(sessionId);
    const beside = isShared && last?.isShared ? last : undefined;
    const before = beside === undefined ? last?.settled : beside.before;
    const result = before === undefined ? work() : before.then(work);
    const settled = Promise.allSettled([result, beside?.settled]);
    this.#last.set(sessionId, { isShared, before, settled });
    try {
      return await result;
    } finally {
      void settled.then(() => {
        if (this.#last.get(sessionId)?.settled === settled) this.#last.delete(sessionId);
      });
    }
  }
}
