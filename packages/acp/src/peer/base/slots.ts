// Lets so many run at once. The others wait, in order.

export class Slots {
  readonly #atOnce: number;
  readonly #maxWaiting: number;
  /** A set keeps their order, and one that gives up leaves at once. */
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(atOnce: number, maxWaiting: number = Number.POSITIVE_INFINITY) {
    this.#atOnce = atOnce;
    this.#maxWaiting = maxWaiting;
  }

  /** Nobody else may wait. */
  get isFull(): boolean {
    return this.#running === this.#atOnce && this.#waiting.size >= this.#maxWaiting;
  }

  /** Undefined when there is a slot at once. Else resolves with whether there is one: false when the signal aborts first. */
  enter(signal?: AbortSignal): Promise<boolean> | undefined {
    if (this.#running < this.#atOnce) {
      this.#running++;
      return undefined;
    }
    return new Promise((resolve) => {
      const given = () => {
        signal?.removeEventListener("abort", left);
        resolve(true);
      };
      const left = () => {
        this.#waiting.delete(given);
        resolve(false);
      };
      if (signal?.aborted) return resolve(false);
      this.#waiting.add(given);
      signal?.addEventListener("abort", left, { once: true });
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#running--;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
