// Notes what is lost in translation between versions.

import type { Log } from "../../jsonrpc/connection-options.ts";

const maxNotes = 32;
const maxCounted = 256;

export class Losses {
  readonly #isStrict: boolean;
  readonly #log: Log;
  /** The losses of the current turn, each once. */
  readonly #turn = new Set<string>();
  /** How often each loss has happened. */
  readonly #counts = new Map<string, number>();

  constructor(mode: "lossy" | "strict", log: Log) {
    this.#isStrict = mode === "strict";
    this.#log = log;
  }

  /** Counts what was lost, and logs what is lost for the first time. False when the message must not be sent. */
  note(sessionId: string, lost: readonly string[]): boolean {
    if (lost.length === 0) return true;
    const fresh = lost.filter((what) => this.#count(what) === 1);
    if (fresh.length > 0) {
      const message = this.#isStrict
        ? "dropped an update that the client's version cannot express"
        : "lost in translation";
      this.#log(this.#isStrict ? "error" : "warn", message, { sessionId, lost: fresh });
    }
    for (const what of lost) if (this.#turn.size < maxNotes) this.#turn.add(what);
    return !this.#isStrict;
  }

  #count(what: string): number {
    // texts of the agent may be part of it, and there is no end of those
    const isCounted = this.#counts.has(what) || this.#counts.size < maxCounted;
    const key = isCounted ? what : "other things";
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }

  /** Logs how often what was lost was lost, unless the log has said all of it. */
  summarise(sessionId: string): void {
    const often = [...this.#counts].filter(([, count]) => count > 1);
    if (often.length > 0)
      this.#log("warn", "lost in translation, in all", { sessionId, counts: Object.fromEntries(often) });
  }

  /** Takes what was lost since the last time, for the answer that ends a turn. */
  take(): readonly string[] {
    const lost = [...this.#turn];
    this.#turn.clear();
    return lost;
  }
}
