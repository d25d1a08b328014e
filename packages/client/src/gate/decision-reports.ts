// Reports decisions to listeners, and keeps the refusals.

import type { Decision } from "./decision.ts";

/** As many are kept; all are counted. */
const maxKept = 1_000;

export class DecisionReports {
  /** What policy refused, or nobody was there to allow; not what a person refused. The first 1,000. */
  readonly refusals: Decision[] = [];
  /** How many there were. */
  refused = 0;
  /** What agents say they have done by themselves against a rule. The first 1,000. */
  readonly violations: Decision[] = [];
  readonly #listeners = new Set<(decision: Decision) => void>();

  report(decision: Decision): void {
    const { effect, by } = decision;
    if (effect === "violation" && this.violations.length < maxKept) this.violations.push(decision);
    if (effect === "deny" && by !== "user" && ++this.refused <= maxKept) this.refusals.push(decision);
    for (const listener of this.#listeners) listener(decision);
  }

  listen(listener: (decision: Decision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
