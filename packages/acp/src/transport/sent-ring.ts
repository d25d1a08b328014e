// Keeps messages that were sent, by number, so that what a cut connection lost can be sent again.

/** How much a connection keeps of what it sent. */
export interface RingLimits {
  readonly ringEvents: number;
  readonly ringBytes: number;
}

export const defaultRingLimits: RingLimits = { ringEvents: 4_096, ringBytes: 8 * 1024 * 1024 };

/** The messages have the numbers 1, 2, 3 and so on. The oldest are forgotten first. */
export class SentRing {
  /** The characters of what is kept. */
  chars = 0;
  #texts: string[] = [];
  /** Where the oldest kept one is in the array. */
  #head = 0;
  #forgotten = 0;

  /** The number of the newest one; 0 if there was none. */
  get last(): number {
    return this.#forgotten + this.count;
  }

  /** The number of the newest one that is not kept any more. */
  get forgotten(): number {
    return this.#forgotten;
  }

  get count(): number {
    return this.#texts.length - this.#head;
  }

  push(text: string): void {
    this.#texts.push(text);
    this.chars += text.length;
  }

  /** Undefined for one that is not kept. */
  at(number: number): string | undefined {
    return number > this.#forgotten ? this.#texts[this.#head + number - this.#forgotten - 1] : undefined;
  }

  /** Whether everything behind this number is kept. */
  hasAllAfter(number: number): boolean {
    return number >= this.#forgotten && number <= this.last;
  }

  /** Forgets all up to this number. Returns how many characters that were. */
  forgetTo(number: number): number {
    let freed = 0;
    while (this.#forgotten < number && this.count > 0) {
      freed += this.#texts[this.#head]?.length ?? 0;
      this.#texts[this.#head++] = "";
      this.#forgotten++;
    }
    // removing the head of a long array each time would cost its length
    if (this.#head > 1_024 && this.#head * 2 > this.#texts.length) {
      this.#texts = this.#texts.slice(this.#head);
      this.#head = 0;
    }
    this.chars -= freed;
    return freed;
  }

  /** Forgets the oldest until the rest is within the limits. One message is always kept. */
  keepWithin({ ringEvents, ringBytes }: RingLimits): void {
    while (this.count > 1 && (this.count > ringEvents || this.chars > ringBytes))
      this.forgetTo(this.#forgotten + 1);
  }
}
