// Counts the updates of an agent that were dropped or repaired. The log has the first of each kind, and the counts at the end.

import type { Log } from "../../jsonrpc/connection-options.ts";

/** Why an update was dropped, or that it was repaired. */
type Kind = "orphan" | "invalid" | "repaired";

const texts: Readonly<Record<Kind, string>> = {
  orphan: "dropped an update of an unknown session",
  invalid: "dropped an update that is not valid",
  repaired: "repaired an update that is not valid",
};

export class DroppedUpdates {
  readonly counts: Record<Kind, number> = { orphan: 0, invalid: 0, repaired: 0 };
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Goes on with other counts. The log has had the first of each kind. */
  restore(counts: Readonly<Record<Kind, number>>): void {
    Object.assign(this.counts, counts);
  }

  /** `example` is logged if it is the first of its kind. */
  note(kind: Kind, example: Readonly<Record<string, unknown>>, count = 1): void {
    if (this.counts[kind] === 0) this.#log("warn", texts[kind], example);
    this.counts[kind] += count;
  }

  /** Logs how many there were, unless the log has said all of it. */
  summarise(): void {
    for (const kind of ["orphan", "invalid", "repaired"] as const) {
      const count = this.counts[kind];
      if (count > 1) this.#log("warn", `${texts[kind]}: ${count} times on this connection`, { count });
    }
  }
}

const maxUpdates = 1_024;
const maxChars = 8 * 1024 * 1024;

/** An update that waits for its session. */
export interface Orphan {
  readonly sessionId: string;
  readonly update: object;
  readonly chars: number;
}

export class OrphanUpdates {
  #kept: Orphan[] = [];
  #chars = 0;
  #awaited = 0;
  readonly #dropped: DroppedUpdates;

  constructor(dropped: DroppedUpdates) {
    this.#dropped = dropped;
  }

  /** Those that are kept, in order. */
  get kept(): readonly Orphan[] {
    return this.#kept;
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
    if (this.#awaited === 0) return this.#drop(sessionId, update);
    this.#kept.push({ sessionId, update, chars });
    this.#chars += chars;
    while (this.#kept.length > maxUpdates || this.#chars > maxChars) {
      const oldest = this.#kept.shift();
      this.#chars -= oldest?.chars ?? 0;
      if (oldest !== undefined) this.#drop(oldest.sessionId, oldest.update);
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
    for (const { sessionId, update } of this.#kept) this.#drop(sessionId, update);
    this.#kept = [];
    this.#chars = 0;
  }

  #drop(sessionId: string, update: object): void {
    const { sessionUpdate } = update as { sessionUpdate?: unknown };
    this.#dropped.note("orphan", { sessionId, sessionUpdate });
  }
}
