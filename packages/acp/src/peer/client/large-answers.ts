// What files and commands give back may be large, and an agent may ask for much at once: so much is looked up as a few
// answers hold, and an answer is sent when the agent has read the ones before it.

/** Looked up at the same time; each may be as large as a message. */
const atOnce = 8;

export class LargeAnswers {
  readonly #room: () => Promise<void> | undefined;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #line: Promise<void> = Promise.resolve();

  /** `room` is what to wait for while the peer is slow. */
  constructor(room: () => Promise<void> | undefined) {
    this.#room = room;
  }

  async give<Result>(look: () => Promise<Result>): Promise<Result> {
    if (this.#running === atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      const result = await look();
      await this.#turn();
      return result;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  /** One after the other, and the next one only when this one has been sent. */
  async #turn(): Promise<void> {
    if (this.#room() === undefined) return;
    const before = this.#line;
    const sent = Promise.withResolvers<void>();
    this.#line = sent.promise;
    await before;
    await this.#room();
    setTimeout(sent.resolve, 0);
  }
}
