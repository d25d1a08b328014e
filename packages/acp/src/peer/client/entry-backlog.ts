// Keeps the entries of a session for its first listener, within bounds (G6).

import type { Entry } from "../../model/entry.ts";

const maxEntries = 1_024;
const maxChars = 8 * 1024 * 1024;

export class EntryBacklog {
  readonly #entries: Entry[] = [];
  readonly #sizes: number[] = [];
  #chars = 0;
  #lost = 0;

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** How many entries were dropped since the last call. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  push(entry: Entry, chars: number): void {
    this.#entries.push(entry);
    this.#sizes.push(chars);
    this.#chars += chars;
    if (this.#entries.length > maxEntries || this.#chars > maxChars) this.#dropOldest();
  }

  /** Drops half at once, so that each entry costs the same. */
  #dropOldest(): void {
    const drop = this.#entries.length > maxEntries ? maxEntries / 2 : 0;
    let dropped = 0;
    while (dropped < drop || (this.#chars > maxChars && dropped < this.#entries.length)) {
      this.#chars -= this.#sizes[dropped] ?? 0;
      dropped++;
    }
    this.#entries.splice(0, dropped);
    this.#sizes.splice(0, dropped);
    this.#lost += dropped;
  }
}
