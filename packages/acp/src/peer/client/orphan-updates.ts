// Keeps updates of unknown sessions while an answer that may name their session is awaited.

import type { Log } from "../../jsonrpc/connection-options.ts";

const maxUpdates = 1_024;
const maxChars = 8 * 1024 * 1024;

interface Orphan {
  readonly sessionId: string;
  readonly update: object;
  readonly chars: number;
}

export class OrphanUpdates {
  #kept: Orphan[] = [];
  #chars = 0;
  #awaited = 0;
  readonly #log: Log;
  #overflowed = false;
  /** Updates for sessions that were never named. */
  dropped = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** While the work runs, an answer may name a new session. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#awaited++;
    try {
      return await work();
    } finally {
      if (--this.#awaited === 0) this.#forget();
    }
  }

  add(sessionId: string, update: object, chars: number): void {
    if (this.#awaited === 0) {
      this.dropped++;
      return;
    }
    this.#kept.push({ sessionId, update, chars });
    this.#chars += chars;
    while (this.#kept.length > maxUpdates || this.#chars > maxChars) {
      this.#chars -= this.#kept.shift()?.chars ?? 0;
      this.dropped++;
      if (!this.#overflowed) this.#log("warn", "updates of unknown sessions were dropped", {});
      this.#overflowed = true;
    }
  }

  /** The updates of a session that now has a name, in order. */
  adopt(sessionId: string): readonly Orphan[] {
    const own = this.#kept.filter((orphan) => orphan.sessionId === sessionId);
    this.#kept = this.#kept.filter((orphan) => orphan.sessionId !== sessionId);
    for (const { chars } of own) this.#chars -= chars;
    return own;
  }

  #forget(): void {
    this.dropped += this.#kept.length;
    this.#kept = [];
    this.#chars = 0;
  }
}
