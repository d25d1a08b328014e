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
