// Holds messages while the version of the protocol is being loaded, and releases them in order.

export class HeldInput {
  #held: (() => void)[] | undefined = [];
  #dropped: Error | undefined;

  /** Runs the work now, or in order when `release` is called. */
  notification(work: () => void): void {
    if (this.#held === undefined) work();
    else this.#held.push(work);
  }

  request(work: () => unknown): unknown {
    const held = this.#held;
    if (held === undefined) return work();
    return new Promise((resolve, reject) => {
      held.push(() => {
        try {
          if (this.#dropped !== undefined) throw this.#dropped;
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** Refuses the requests that are held, and drops the notifications. */
  drop(error: Error): void {
    this.#dropped = error;
    this.release();
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const work of held) work();
  }
}
