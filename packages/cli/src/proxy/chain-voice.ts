// What components say for people.

export interface ChainVoice {
  /** A sentence about one of them. */
  say(text: string): void;
  /** What one of them wrote to its stderr. */
  stderr(text: string): void;
}

/** What a chain says. */
export interface EndingVoice extends ChainVoice {
  /** The chain ends, for this reason. */
  ended(reason: string): void;
}
