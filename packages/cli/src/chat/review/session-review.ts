// The review of a session: a snapshot at both ends of each turn, and undo that waits until the agent is idle.

import { join, resolve } from "node:path";
import type { SessionView } from "@parley/acp/view";
import type { Review } from "@parley/review";
import { stateFolder } from "../../settings/data-folder.ts";
import type { TurnChanges } from "../conversation/session-turns.ts";
import type { ReviewChanges, ReviewResult, ReviewSource } from "../sheets/review-source.ts";

export interface SessionReviewOptions {
  /** The directories of the session. */
  readonly roots: readonly string[];
  /** Whether the session has turns that were not followed here. */
  readonly isContinued?: boolean;
  /** Shows a sentence to the user. */
  readonly notice: (text: string) => void;
  /** Tells the agent with the next prompt. */
  readonly tell: (text: string) => void;
}

/** A turn begins without its snapshot after so long. */
const longestMs = 30_000;

/** A result of nothing that could be taken back. */
const nothing = "no turn has changed anything that can be taken back";

const earlier = "What the session changed before it was continued here cannot be shown or undone.";

export class SessionReview implements TurnChanges, ReviewSource {
  readonly #options: SessionReviewOptions;
  readonly #named = new Set<string>();
  #opening: Promise<Review> | undefined;
  #review: Review | undefined;
  /** Resolves when the running turn has ended. */
  #turn: PromiseWithResolvers<void> | undefined;
  /** What was undone and can be redone, the last one last. */
  #undone: ReviewResult[] = [];

  constructor(options: SessionReviewOptions) {
    this.#options = options;
  }

  get notCovered(): readonly string[] {
    const before = this.#options.isContinued ? [earlier] : [];
    return [...before, ...(this.#review?.notCovered ?? [])];
  }

  // ---- turns

  async begin(): Promise<void> {
    // an undo that is asked for from now on waits
    this.#turn = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#options.notice("the files take long to look at: what this turn changes first cannot be undone");
      late.resolve();
    }, longestMs);
    const begun = this.#open().then((review) => review.beginTurn());
    await Promise.race([begun, late.promise]).finally(() => clearTimeout(timer));
  }

  async end(): Promise<{ files: number; added: number; removed: number } | undefined> {
    const turn = this.#turn;
    try {
      const { changes, notes } = await (await this.#open()).endTurn();
      for (const note of notes) this.#options.notice(note);
      if (changes.files.length === 0) return undefined;
      return { files: changes.files.length, added: changes.added, removed: changes.removed };
    } finally {
      // the user may not have waited for it, and another turn may run
      if (this.#turn === turn) this.#turn = undefined;
      turn?.resolve();
    }
  }

  /** A file that a tool call names is kept as it is now, in case that git ignores it. */
  observe(view: SessionView): void {
    if (this.#turn === undefined || view.files.size === this.#named.size) return;
    for (const path of view.files.keys()) {
      if (this.#named.has(path)) continue;
      this.#named.add(path);
      void this.protect(path);
    }
  }

  async protect(path: string): Promise<void> {
    const [root = ""] = this.#options.roots;
    if (this.#turn === undefined) return;
    // what cannot be kept must not stop the agent
    await this.#review?.protect(resolve(root, path)).catch(() => false);
  }

  // ---- the review of the user

  async changes(): Promise<ReviewChanges> {
    return (await this.#open()).changes();
  }

  async keep(hunks: readonly string[]): Promise<number> {
    return (await this.#open()).keep(hunks);
  }

  async undo(target: { readonly hunks: readonly string[] }): Promise<ReviewResult> {
    return this.#undo(target);
  }

  async redo(result: Pick<ReviewResult, "id">): Promise<ReviewResult> {
    const review = await this.#idle();
    const redone = await review.redo(result);
    this.#undone = this.#undone.filter(({ id }) => id !== result.id);
    this.#report(review);
    return redone;
  }

  /** Takes back the last turn that changed something. Returns a sentence if there is none. */
  async undoTurn(): Promise<ReviewResult | string> {
    const review = await this.#idle();
    const changes = await review.changes();
    const open = changes.files.flatMap(({ hunks }) => hunks).filter(({ state }) => state === "open");
    const last = Math.max(0, ...open.flatMap(({ turns }) => turns));
    return last === 0 ? nothing : this.#undo({ turn: last });
  }

  /** Takes back the last undo. Returns a sentence if there is none. */
  async redoLast(): Promise<ReviewResult | string> {
    const last = this.#undone.at(-1);
    return last === undefined ? "nothing was undone" : this.redo(last);
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => undefined))?.close();
  }

  // ---- inside

  async #undo(target: Parameters<Review["undo"]>[0]): Promise<ReviewResult> {
    const review = await this.#idle();
    const result = await review.undo(target);
    if (result.files.some(({ outcome }) => outcome !== "refused")) this.#undone.push(result);
    this.#report(review);
    return result;
  }

  /** The review, when no turn runs. */
  async #idle(): Promise<Review> {
    while (this.#turn !== undefined) await this.#turn.promise;
    return this.#open();
  }

  #open(): Promise<Review> {
    this.#opening ??= (async () => {
      const { openReview } = await import("@parley/review");
      const review = await openReview({ roots: this.#options.roots, home: join(stateFolder(), "review") });
      this.#review = review;
      return review;
    })();
    return this.#opening;
  }

  #report(review: Review): void {
    const text = review.takeReport();
    if (text !== undefined && text !== "") this.#options.tell(text);
  }
}
