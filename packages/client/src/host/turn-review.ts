// Follows what turns change, with a review such as that of `@parley/review`.

import type { ReviewedTurn, TakenBack } from "../conversation/session-link.ts";
import type { AttachedText } from "../prompt-input/chat-input.ts";
import type { TurnChanges, UndoneTurn } from "./turn-changes.ts";

/** What became of each file. */
export interface UndoneFiles {
  /** The id, to put it back. */
  readonly id: number;
  /** The files, and what became of each. */
  readonly files: readonly {
    readonly path: string;
    readonly outcome: "undone" | "redone" | "merged" | "refused";
    readonly reason: string | undefined;
  }[];
  /** What the user should know, one sentence each. */
  readonly notes: readonly string[];
}

/** The part of a review that follows turns. That of `openReview` of `@parley/review` has it. */
export interface TurnReview {
  /** Looks at the files. `label` is what the turn is called. */
  beginTurn(label?: string): Promise<void>;
  /** Looks at them again. */
  endTurn(): Promise<{
    readonly number: number;
    readonly changes: {
      readonly files: readonly unknown[];
      readonly added: number;
      readonly removed: number;
    };
    readonly notes: readonly string[];
  }>;
  /** Takes the changes of a turn back. */
  undo(target: { readonly turn: number }): Promise<UndoneFiles>;
  /** Puts back what an undo took back. */
  redo(undone: { readonly id: number }): Promise<UndoneFiles>;
  /** Keeps a file that is about to be written. */
  protect(path: string): Promise<unknown>;
  /** What the user took back, for the agent. Given once. */
  takeReport(): string | undefined;
  /** Ends it. */
  close(): Promise<void>;
}

const longestLabel = 60;

/** A file is named once: with why some of its changes stay, if they do. */
export function takenBack(results: readonly UndoneFiles[]): TakenBack {
  const files = results.flatMap((result) => result.files);
  const kept = new Map(
    files.flatMap(({ path, outcome, reason }) =>
      outcome === "refused" ? [[path, reason ?? "it was changed since"] as const] : [],
    ),
  );
  const done = new Set(files.map(({ path }) => path).filter((path) => !kept.has(path)));
  return {
    files: done.size,
    kept: Array.from(kept, ([path, reason]) => ({ path, reason })),
    notes: [...new Set(results.flatMap(({ notes }) => notes))],
  };
}

/**
 * Takes the changes of turns back, the last turn first, so that each finds the files as it left them.
 *
 * @param turns - The turns, in order.
 * @param review - Opens the review of a session. It throws why there is none.
 *
 * @example
 * import { takeTurnsBack, type TurnReview } from "@parley/client/host";
 *
 * export async function takeBack(review: TurnReview, turn: number): Promise<number> {
 *   const { files } = await takeTurnsBack([{ session: "mine", turn }], async () => review);
 *   return files;
 * }
 */
export async function takeTurnsBack(
  turns: readonly ReviewedTurn[],
  review: (session: string) => Promise<Pick<TurnReview, "undo">>,
): Promise<TakenBack & { readonly undone: readonly UndoneTurn[] }> {
  const results: UndoneFiles[] = [];
  const undone: UndoneTurn[] = [];
  for (const { session, turn } of turns.toReversed()) {
    const result = await tried(turn, async () => (await review(session)).undo({ turn }));
    results.push(result);
    if (result.files.some(({ outcome }) => outcome !== "refused")) undone.push({ session, id: result.id });
  }
  return { ...takenBack(results), undone };
}

/**
 * Puts back what `takeTurnsBack` took back.
 *
 * @param undone - What it took back, in its order.
 * @param review - Opens the review of a session. It throws why there is none.
 *
 * @example
 * import { restoreTurns, type TurnReview, type UndoneTurn } from "@parley/client/host";
 *
 * export async function putBack(review: TurnReview, undone: readonly UndoneTurn[]): Promise<number> {
 *   const { files } = await restoreTurns(undone, async () => review);
 *   return files;
 * }
 */
export async function restoreTurns(
  undone: readonly UndoneTurn[],
  review: (session: string) => Promise<Pick<TurnReview, "redo">>,
): Promise<TakenBack> {
  const results: UndoneFiles[] = [];
  for (const { session, id } of undone.toReversed())
    results.push(await tried(undefined, async () => (await review(session)).redo({ id })));
  return takenBack(results);
}

/** The others are taken back all the same. */
async function tried(turn: number | undefined, work: () => Promise<UndoneFiles>): Promise<UndoneFiles> {
  try {
    return await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const what =
      turn === undefined ? "What was taken back is not put back" : `Turn ${turn} is not taken back`;
    return { id: 0, files: [], notes: [`${what}: ${why}`] };
  }
}

/** `open` is called with the first turn, and with the name of another session whose turns are taken back. */
export function turnChanges(
  open: (session?: string) => Promise<TurnReview>,
  notice: (text: string) => void,
  name: () => string,
): TurnChanges {
  let opening: Promise<TurnReview> | undefined;
  let review: TurnReview | undefined;
  const opened = async (): Promise<TurnReview> => {
    opening ??= open();
    review = await opening;
    return review;
  };
  const named = (session: string): Promise<TurnReview> => (session === name() ? opened() : open(session));
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
      const { number: turn, changes, notes } = await (await opened()).endTurn();
      for (const note of notes) notice(note);
      const { files, added, removed } = changes;
      if (files.length === 0) return undefined;
      return { files: files.length, added, removed, review: { session: name(), turn } };
    },
    takeReport(): AttachedText | undefined {
      const text = review?.takeReport();
      return text === undefined || text === "" ? undefined : { name: "changes of the user", text };
    },
    rewind: (turns) => takeTurnsBack(turns, named),
    restore: (undone) => restoreTurns(undone, named),
  };
}
