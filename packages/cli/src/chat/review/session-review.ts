// The review of a session: a snapshot at both ends of each turn, and undo that waits until the agent is idle.

import { join, resolve } from "node:path";
import type { SessionView } from "@parley/acp/view";
import type { AttachedText } from "@parley/client";
import type { ReviewedTurn, TakenBack, TurnSummary } from "@parley/client/conversation";
import { restoreTurns, type TurnChanges, takeTurnsBack, type UndoneTurn } from "@parley/client/host";
import type { Review } from "@parley/review";
import { counted } from "../../draw/text-lines.ts";
import { stateFolder } from "../../settings/data-folder.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { ReviewChanges, ReviewResult, ReviewSource } from "../sheets/review-source.ts";
import type { NamedResult } from "./result-lines.ts";

export interface SessionReviewOptions {
  /** The directories of the session. */
  readonly roots: readonly string[];
  /** Whether the session has turns from before this process. */
  readonly isContinued?: boolean;
  /** The id of the session in the history, as soon as it has one. Its turns are stored under this name. */
  readonly session?: () => string | undefined;
  /** Shows a sentence to the user. */
  readonly notice: (text: string) => void;
}

/** Each file that an agent names costs a look at it. */
const mostNamed = 1_000;

/** A turn begins without its snapshot after so long. */
const longestMs = 30_000;

/** A result of nothing that could be taken back. */
const nothing = "no turn has changed anything that can be taken back";

const earlier = "What the session changed before it was continued here cannot be shown or undone.";

/** The reviews of this process. */
const open = new Set<SessionReview>();

/** Reviews that are being closed, by session: one that is opened again at once waits for it. */
const leaving = new Map<string, Promise<void>>();

export class SessionReview implements TurnChanges, ReviewSource {
  readonly #options: SessionReviewOptions;
  readonly #named = new Set<string>();
  #hasTooMany = false;
  /** How many turns were stored by earlier processes. */
  #earlierTurns = 0;
  #opening: Promise<Review> | undefined;
  #review: Review | undefined;
  /** Resolves when the running turn has ended. */
  #turn: PromiseWithResolvers<void> | undefined;
  /** The problem that was told to the user already. */
  #told: string | undefined;

  constructor(options: SessionReviewOptions) {
    this.#options = options;
    open.add(this);
  }

  /** What it is stored under. */
  get name(): string | undefined {
    return this.#options.session?.();
  }

  get notCovered(): readonly string[] {
    // what is stored is known when it is open
    if (this.#review === undefined) return [];
    const isLost = this.#options.isContinued === true && this.#earlierTurns === 0;
    return [...(isLost ? [earlier] : []), ...this.#review.notCovered];
  }

  // ---- turns

  async begin(prompt = ""): Promise<void> {
    // an undo that is asked for from now on waits
    this.#turn = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#options.notice("the files take long to look at: what this turn changes first cannot be undone");
      late.resolve();
    }, longestMs);
    const begun = this.#open().then((review) => review.beginTurn(nameOf(prompt)));
    try {
      await Promise.race([begun, late.promise]);
      this.#told = undefined;
    } catch (error) {
      this.#goOnWithout(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The chat works without a review. It is said once, and tried again with each turn. */
  #goOnWithout(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (why === this.#told) return;
    this.#told = why;
    this.#options.notice(`${why}. The chat goes on without review: changes cannot be shown or undone.`);
  }

  /** For the agent, with the next prompt: what was undone and put back. */
  takeReport(): AttachedText | undefined {
    const text = this.#review?.takeReport();
    return text === undefined || text === "" ? undefined : { name: reportName(text), text };
  }

  async end(): Promise<TurnSummary["changed"]> {
    const turn = this.#turn;
    try {
      // without a snapshot of the beginning there is nothing to compare with
      if (this.#told !== undefined) return undefined;
      const { number, changes, notes } = await (await this.#open()).endTurn();
      for (const note of notes) this.#options.notice(note);
      const { files, added, removed } = changes;
      if (files.length === 0) return undefined;
      const { name } = this;
      const review = name === undefined ? {} : { review: { session: name, turn: number } };
      return { files: files.length, added, removed, ...review };
    } finally {
      // the user may not have waited for it, and another turn may run
      if (this.#turn === turn) this.#turn = undefined;
      turn?.resolve();
    }
  }

  /** A file that a tool call names is kept as it is now, in case that git ignores it. */
  observe(view: SessionView): void {
    if (this.#turn === undefined || view.files.size === this.#named.size) return;
    for (const path of this.#named.size < mostNamed ? view.files.keys() : []) {
      if (this.#named.has(path)) continue;
      this.#named.add(path);
      void this.protect(path);
      if (this.#named.size === mostNamed) break;
    }
    if (this.#named.size < view.files.size) this.#tooMany();
  }

  #tooMany(): void {
    if (this.#hasTooMany) return;
    this.#hasTooMany = true;
    const many = mostNamed.toLocaleString("en-US");
    this.#options.notice(
      `the agent names more than ${many} files: of the others, ignored ones are not covered`,
    );
  }

  async protect(path: string): Promise<void> {
    const [root = ""] = this.#options.roots;
    if (this.#turn === undefined) return;
    // what cannot be kept must not stop the agent
    await this.#review?.protect(resolve(root, path)).catch(() => false);
  }

  // ---- the review of the user

  async changes(): Promise<ReviewChanges> {
    return this.#hasNothing ? { files: [], added: 0, removed: 0 } : (await this.#open()).changes();
  }

  /** Before its first turn a session has no name to be stored under, and nothing to show. */
  get #hasNothing(): boolean {
    return this.#opening === undefined && this.#options.session?.() === undefined;
  }

  async keep(hunks: readonly string[]): Promise<number> {
    return (await this.#open()).keep(hunks);
  }

  async undo(target: { readonly hunks: readonly string[] }): Promise<ReviewResult> {
    return this.#undo(target);
  }

  async redo(result: Pick<ReviewResult, "id">): Promise<ReviewResult> {
    return (await this.#idle()).redo(result);
  }

  /** Takes back the last turn that changed something, and says which. Returns a sentence if there is none. */
  async undoTurn(): Promise<NamedResult | string> {
    if (this.#turn === undefined && this.#hasNothing) return nothing;
    const review = await this.#idle();
    const changes = await review.changes();
    const open = changes.files.flatMap(({ hunks }) => hunks).filter(({ state }) => state === "open");
    const last = Math.max(0, ...open.flatMap(({ turns }) => turns));
    if (last === 0) return nothing;
    const { label } = review.turns.find(({ number }) => number === last) ?? {};
    const result = await review.undo({ turn: last });
    return { ...result, turn: `turn ${last}${label === undefined ? "" : `: ${label}`}` };
  }

  /** Takes back the last undo. Returns a sentence if there is none. */
  async redoLast(): Promise<ReviewResult | string> {
    if (this.#turn === undefined && this.#hasNothing) return "nothing was undone";
    const id = (await this.#idle()).undone.at(-1);
    return id === undefined ? "nothing was undone" : this.redo({ id });
  }

  // ---- rewinds

  /** Turns of the sessions from which this one was rewound are among them. */
  rewind(turns: readonly ReviewedTurn[]): Promise<TakenBack & { readonly undone: readonly UndoneTurn[] }> {
    return this.#withReviews((review) => takeTurnsBack(turns, review));
  }

  restore(undone: readonly UndoneTurn[]): Promise<TakenBack> {
    return this.#withReviews((review) => restoreTurns(undone, review));
  }

  /** Opens the reviews of sessions that are not open here for as long as it takes. */
  async #withReviews<Result>(work: (review: (name: string) => Promise<Review>) => Promise<Result>) {
    const opened: SessionReview[] = [];
    const find = (name: string): SessionReview => {
      const known = [...open].find((each) => each.name === name);
      if (known !== undefined) return known;
      const other = new SessionReview({ ...this.#options, session: () => name });
      opened.push(other);
      return other;
    };
    try {
      return await work((name) => find(name).#idle());
    } finally {
      await Promise.all(opened.map((each) => each.close()));
    }
  }

  close(): Promise<void> {
    open.delete(this);
    const closed = (async () => {
      await (await this.#opening?.catch(() => undefined))?.close();
    })();
    const name = this.#options.session?.();
    if (name !== undefined) leaving.set(name, closed);
    return closed;
  }

  // ---- inside

  async #undo(target: Parameters<Review["undo"]>[0]): Promise<ReviewResult> {
    return (await this.#idle()).undo(target);
  }

  /** The review, when no turn runs. */
  async #idle(): Promise<Review> {
    while (this.#turn !== undefined) await this.#turn.promise;
    return this.#open();
  }

  #open(): Promise<Review> {
    const opening = this.#opening ?? this.#opened();
    this.#opening = opening;
    // the disk may have room the next time
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  async #opened(): Promise<Review> {
    const { openReview } = await import("@parley/review");
    const { roots, session } = this.#options;
    const name = session?.();
    await (name === undefined ? undefined : leaving.get(name));
    const home = join(stateFolder(), "review");
    const review = await openReview({
      roots,
      stateFolder: home,
      ...(name === undefined ? {} : { session: name }),
    });
    this.#review = review;
    this.#earlierTurns = review.turns.length;
    return review;
  }
}

/** Enough of a prompt to know it by. */
function nameOf(prompt: string): string | undefined {
  const line = safeLine(prompt.slice(0, 1_000)).trim();
  if (line === "") return undefined;
  return line.length <= 60 ? line : `${line.slice(0, 59).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Such as "1 change taken back": each part of a report has a heading and one line per change, with its own lines below. */
function reportName(report: string): string {
  let what = "";
  const counts = new Map<string, number>();
  for (const line of report.split("\n")) {
    if (line.startsWith("The user took back")) what = "taken back";
    else if (line.startsWith("The user put")) what = "put back";
    else if (line.startsWith("- ")) counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${counted(count, "change")} ${name}`).join(", ");
}
