// Runs the prompts of one session in order, one at a time. Agent, client, client kit and relay share it.

/**
 * `run` works on one item. A promise holds the queue until it settles; what it resolves with goes to the front.
 * Without a promise the next item starts at once.
 */
export type RunItem<Item> = (item: Item) => Promise<readonly Item[] | undefined> | undefined;

export class PromptQueue<Item> {
  readonly #run: RunItem<Item>;
  #waiting: Item[] = [];
  #current: Item | undefined;
  #running: Promise<void> | undefined;

  constructor(run: RunItem<Item>) {
    this.#run = run;
  }

  /** The item that runs. */
  get current(): Item | undefined {
    return this.#current;
  }

  /** Resolves when nothing runs and nothing waits; undefined when that is so now. Never rejects. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  get waiting(): readonly Item[] {
    return this.#waiting;
  }

  /** Adds an item at the end. It starts before this returns when nothing is before it. */
  add(item: Item): void {
    this.#waiting.push(item);
    // also while the first item starts, which may add others
    if (this.#running !== undefined || this.#current !== undefined) return;
    const drained = this.#drain();
    if (this.#current !== undefined) this.#running = drained;
  }

  /** Takes an item out that has not started. False when it has, or was never here. */
  withdraw(item: Item): boolean {
    const at = this.#waiting.indexOf(item);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** Takes out everything that has not started and matches. */
  withdrawAll(matches: (item: Item) => boolean = () => true): Item[] {
    const taken = this.#waiting.filter(matches);
    this.#waiting = this.#waiting.filter((item) => !taken.includes(item));
    return taken;
  }

  async #drain(): Promise<void> {
    for (let item = this.#waiting.shift(); item !== undefined; item = this.#waiting.shift()) {
      this.#current = item;
      let before: readonly Item[] | undefined;
      try {
        const work = this.#run(item);
        if (work !== undefined) before = await work;
      } catch {
        // `run` reports its own failures; the items behind this one start all the same
      }
      this.#current = undefined;
      if (before !== undefined) this.#waiting.unshift(...before);
    }
    this.#running = undefined;
  }
}
