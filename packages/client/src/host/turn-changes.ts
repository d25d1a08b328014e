// What a session host needs to know and undo of the files that turns change.

import type { ReviewedTurn, TakenBack, TurnSummary } from "../conversation/session-link.ts";
import type { AttachedText } from "../prompt-input/chat-input.ts";

/** Finds out what a turn changed. */
export interface TurnChanges {
  /** `prompt` is what the turn is called. */
  begin(prompt: string): Promise<void>;
  /** A file is about to be written. It never rejects. */
  protect(path: string): Promise<void>;
  /** Looks at the files again, and counts what the turn changed. Undefined if that is nothing. */
  end(): Promise<NonNullable<TurnSummary["changed"]> | undefined>;
  /** For the agent, with the next prompt: what the user took back. Given once. */
  takeReport(): AttachedText | undefined;
  /** Takes these turns back, the last one first. */
  rewind?(turns: readonly ReviewedTurn[]): Promise<TakenBack & { readonly undone: readonly UndoneTurn[] }>;
  /** Puts back what `rewind` took back. */
  restore?(undone: readonly UndoneTurn[]): Promise<TakenBack>;
}

/** What was taken back of a turn, in the review of a session. */
export interface UndoneTurn {
  /** The name under which the review of the session is stored. */
  readonly session: string;
  /** Of the undo. */
  readonly id: number;
}
