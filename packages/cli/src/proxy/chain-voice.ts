// What components tell those who run them.

import type { Gate } from "@parley/client/policy";

export interface ChainVoice {
  /** A sentence about one of them. */
  say(text: string): void;
  /** What one of them wrote to its stderr. */
  stderr(text: string): void;
  /** One of them decides with this gate. */
  gated?(gate: Gate): void;
}

/** What a chain says. */
export interface EndingVoice extends ChainVoice {
  /** The chain ends, for this reason. */
  ended(reason: string): void;
}
