// How often and how long to try to reach a server again.

/** The longest pause between two attempts. */
const longestMs = 10_000;

export class ReconnectPace {
  readonly #backoffMs: number;
  readonly #windowMs: number;
  #since: number | undefined;
  #attempts = 0;

  /** `windowMs` is how long the server keeps the connection. */
  constructor(backoffMs: number, windowMs: number) {
    this.#backoffMs = backoffMs;
    this.#windowMs = windowMs;
  }

  /** The pause before the next attempt; undefined when the server has forgotten the connection by now. */
  next(): number | undefined {
    const now = performance.now();
    this.#since ??= now;
    if (now - this.#since > this.#windowMs) return undefined;
    const ms = Math.min(this.#backoffMs * 2 ** this.#attempts++, longestMs);
    // clients that were cut off together must not return together
    return ms * (0.5 + Math.random() / 2);
  }

  /** Why the connection is given up, after `next` has returned undefined. */
  gaveUp(last: string): string {
    const seconds = Math.ceil(this.#windowMs / 1_000);
    return `the server was not reached for ${seconds} s, and keeps a connection no longer (${last})`;
  }

  /** The server was reached. */
  reset(): void {
    this.#since = undefined;
    this.#attempts = 0;
  }
}
