// Follows what turns change, with a review such as that of `@parley/review`.

import type { TurnSummary } from "../conversation/session-link.ts";
import type { AttachedText } from "../prompt-input/chat-input.ts";

/** Finds out what a turn changed. */
export interface TurnChanges {
  /** `prompt` is what the turn is called. */
  begin(prompt: string): Promise<void>;
  /** A file is about to be written. It never rejects. */
  protect(path: string): Promise<void>;
  end(): Promise<NonNullable<TurnSummary["changed"]> | undefined>;
  /** For the agent, with the next prompt: what the user took back. Given once. */
  takeReport(): AttachedText | undefined;
}

/** The part of a review that follows turns. That of `openReview` of `@parley/review` has it. */
export interface TurnReview {
  /** Looks at the files. `label` is what the turn is called. */
  beginTurn(label?: string): Promise<void>;
  /** Looks at them again. */
  endTurn(): Promise<{
    readonly changes: {
      readonly files: readonly unknown[];
      readonly added: number;
      readonly removed: number;
    };
    readonly notes: readonly string[];
  }>;
  /** Keeps a file that is about to be written. */
  protect(path: string): Promise<unknown>;
  /** What the user took back, for the agent. Given once. */
  takeReport(): string | undefined;
  /** Ends it. */
  close(): Promise<void>;
}

const longestLabel = 60;

/** `open` is called with the first turn. */
export function turnChanges(
  open: () => Promise<TurnReview>,
  notice: (text: string) => void,
): TurnChanges & { close(): Promise<void> } {
  let opening: Promise<TurnReview> | undefined;
  let review: TurnReview | undefined;
  const opened = async (): Promise<TurnReview> => {
    opening ??= open();
    review = await opening;
    return review;
  };
  return {
    async begin(prompt) {
      const [line = ""] = prompt.trim().split("\n");
      await (await opened()).beginTurn(line === "" ? undefined : line.slice(0, longestLabel));
    },
    async protect(path) {
      // what cannot be kept must not stop the agent
      await review?.protect(path).catch(() => false);
    },
    async end() {
      const { changes, notes } = await (await opened()).endTurn();
      for (const note of notes) notice(note);
      const { files, added, removed } = changes;
      return files.length === 0 ? undefined : { files: files.length, added, removed };
    },
    takeReport(): AttachedText | undefined {
      const text = review?.takeReport();
      return text === undefined || text === "" ? undefined : { name: "changes of the user", text };
    },
    async close() {
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
