// Counts output of an agent that was not a readable message, and reports it at the end of the run.

import type { LiveEvent } from "@parley/client";
import { safeLine } from "../terminal/sanitise.ts";

type Unread = Extract<LiveEvent, { kind: "unread" }>;

const shownChars = 80;

export class UnreadOutput {
  readonly #first = new Map<Unread["why"], Unread>();
  readonly #counts = { noise: 0, too_large: 0 };

  add(unread: Unread): void {
    this.#counts[unread.why] += 1;
    if (!this.#first.has(unread.why)) this.#first.set(unread.why, unread);
  }

  /** The report. */
  get lines(): readonly string[] {
    return [...this.#first.values()].map(({ why, bytes, head }) => {
      const count = this.#counts[why];
      const what =
        why === "noise"
          ? `wrote ${count === 1 ? "a line" : `${count} lines`} to stdout that ${count === 1 ? "is not a message" : "are not messages"}, skipped`
          : `sent ${count === 1 ? "a message that is" : `${count} messages that are`} too large, rejected`;
      const line = safeLine(head);
      const shown = line.length > shownChars ? `${line.slice(0, shownChars)}…` : line;
      const size = why === "noise" ? "" : ` (${bytes} bytes)`;
      return `the agent ${what}; ${count === 1 ? "it begins" : "the first begins"}${size}: ${shown}`;
    });
  }
}
