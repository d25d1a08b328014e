// Counts the restarts of a component: one that ends again and again is given up.

const perMinute = 5;
const minuteMs = 60_000;

export class Restarts {
  readonly limit = perMinute;
  readonly #times: number[] = [];

  /** It is about to be started again. */
  note(): void {
    this.#times.push(Date.now());
    if (this.#times.length > perMinute) this.#times.shift();
  }

  get isTooOften(): boolean {
    const [first] = this.#times;
    return this.#times.length === perMinute && first !== undefined && Date.now() - first < minuteMs;
  }
}
