// Takes back what a turn changed in files, and puts it back. A turn that only reads costs nothing.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { AgentSession, Turn } from "@parley/acp";
import { extensionIn, reviewKey } from "@parley/acp/extensions";
import { withTimeout } from "@parley/acp/jsonrpc";
import type { FileOutcome, Review, UndoResult } from "@parley/review";
import { withoutNotes } from "../model/agent-requests.ts";
import { oneLine } from "../text/safe-text.ts";
import type { Access } from "../tools/base/tool.ts";
import { tell } from "./tell.ts";

/** A call runs without its snapshot after so long. */
const longestBeginMs = 30_000;
/** A turn ends before its last snapshot after so long. */
const longestEndMs = 5_000;
const maxNoteCharacters = 10_000;

export interface SessionUndoOptions {
  readonly session: Pick<AgentSession, "sessionId" | "roots" | "cwd" | "clientCapabilities">;
  /** Where contents are stored. Undefined: in a temporary folder, which is removed with the session. */
  readonly folder: string | undefined;
}

/** The answer to `/undo` and `/redo`. */
export interface UndoAnswer {
  readonly text: string;
  /** What the model has to know. Undefined when no file has changed. */
  readonly note: string | undefined;
}

interface Opened {
  readonly roots: string;
  readonly review: Promise<Review>;
}

export class SessionUndo {
  readonly #options: SessionUndoOptions;
  #opened: Opened | undefined;
  #temporary: Promise<string> | undefined;
  /** The snapshot before the first change of the running turn. Empty when it failed. */
  #begun: Promise<{ readonly review?: Review }> | undefined;
  #isLate = false;
  /** The end of the turn before. */
  #ending: Promise<unknown> = Promise.resolve();
  /** Why the last snapshot failed. */
  #problem: string | undefined;

  constructor(options: SessionUndoOptions) {
    this.#options = options;
  }

  /** Whether the agent takes changes back, and not the client. */
  get isOffered(): boolean {
    return extensionIn(this.#options.session.clientCapabilities._meta, reviewKey) !== true;
  }

  /**
   * Call it before a call with this access runs. What cannot be kept does not stop the call. Undefined when the call changes
   * nothing.
   */
  before(access: Access, turn: Turn, signal: AbortSignal): Promise<void> | undefined {
    const changes = access.type === "write" || access.type === "run" || access.type === "mcp";
    if (!changes || !this.isOffered) return undefined;
    return this.#before(access.type === "write" ? access.paths : [], turn, signal);
  }

  async #before(paths: readonly string[], turn: Turn, signal: AbortSignal): Promise<void> {
    this.#begun ??= this.#begin(turn);
    if (this.#isLate) return;
    const begun = await withTimeout(longestBeginMs, this.#begun, signal);
    signal.throwIfAborted();
    this.#isLate = begun === undefined;
    if (this.#isLate)
      return tell(
        turn,
        "The snapshot of the files takes too long. The first changes of this turn cannot be undone.",
      );
    for (const path of paths) await begun?.review?.protect(path).catch(() => false);
    signal.throwIfAborted();
  }

  /** Call it when the turn has ended. */
  async end(): Promise<void> {
    const begun = this.#begun;
    if (begun === undefined) return;
    this.#begun = undefined;
    this.#isLate = false;
    const ended = begun.then(({ review }) => review?.endTurn()).catch((error: unknown) => this.#fail(error));
    this.#ending = ended;
    await withTimeout(longestEndMs, ended);
  }

  /** Takes back the last turn that changed something; again, the one before it. */
  undo(): Promise<UndoAnswer> {
    return this.#answer(async (review) => {
      const { files } = await review.changes();
      const open = files.flatMap(({ hunks }) => hunks).filter(({ state }) => state === "open");
      const last = open.flatMap(({ turns }) => turns).reduce((one, other) => Math.max(one, other), 0);
      if (last === 0) return "There is nothing to undo: no turn has made changes that can be undone.";
      const result = await review.undo({ turn: last });
      const label = review.turns.find(({ number }) => number === last)?.label || `turn ${last}`;
      return { title: `${takenBack} ${JSON.stringify(label)}:`, result, hint: "`/redo` restores them." };
    });
  }

  /** Takes back the last undo. */
  redo(): Promise<UndoAnswer> {
    return this.#answer(async (review) => {
      const id = review.undone.at(-1);
      if (id === undefined) return "There is nothing to redo: nothing was undone.";
      return { title: putBack, result: await review.redo({ id }), hint: "`/undo` reverts them again." };
    });
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await (await opened?.review.catch(() => undefined))?.close();
    const temporary = await this.#temporary?.catch(() => undefined);
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }

  // ---- inside

  /** Never rejects. */
  async #begin(turn: Turn): Promise<{ readonly review?: Review }> {
    try {
      await this.#ending;
      const review = await this.#open().review;
      await review.beginTurn(oneLine(turn.text));
      this.#problem = undefined;
      return { review };
    } catch (error) {
      const before = this.#problem;
      this.#fail(error);
      if (this.#problem !== before && !turn.signal.aborted)
        await tell(turn, `The changes of this turn cannot be undone: ${this.#problem}`);
      return {};
    }
  }

  async #answer(work: (review: Review) => Promise<Done | string>): Promise<UndoAnswer> {
    const only = (text: string): UndoAnswer => ({ text, note: undefined });
    if (!this.isOffered) return only("Your editor has its own undo. Use that instead.");
    if (this.#begun !== undefined)
      return only("This turn has started to change files. Cancel it or let it end, then undo its changes.");
    await this.#ending;
    try {
      const review = await this.#open().review;
      const done = await work(review);
      const left = review.notCovered.map((sentence) => `Not covered: ${sentence}`);
      if (this.#problem !== undefined)
        left.push(`The last turn that changed files is not covered: ${this.#problem}`);
      const lines = typeof done === "string" ? [done] : linesOf(done, this.#options.session.cwd);
      return { text: [...lines, ...left].join("\n"), note: shortened(review.takeReport()) };
    } catch (error) {
      return only(`Nothing was changed: ${messageOf(error)}`);
    }
  }

  /** A session whose folders change has nothing to undo until a turn changes them. */
  #open(): Opened {
    const roots = this.#options.session.roots.join("\n");
    const before = this.#opened;
    if (before?.roots === roots) return before;
    const review = (async () => {
      await (await before?.review.catch(() => undefined))?.close();
      // nothing of it is needed before a call that changes something
      const { openReview } = await import("@parley/review");
      const { folder, session } = this.#options;
      this.#temporary ??= folder === undefined ? mkdtemp(join(tmpdir(), "parley-undo-")) : undefined;
      const home = folder ?? (await this.#temporary) ?? tmpdir();
      return openReview({ roots: session.roots, stateFolder: home, session: session.sessionId });
    })();
    const opened = { roots, review };
    this.#opened = opened;
    review.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }

  #fail(error: unknown): void {
    this.#problem = messageOf(error);
  }
}

interface Done {
  readonly title: string;
  readonly result: UndoResult;
  readonly hint: string;
}

const takenBack = "Undid the changes of";
const putBack = "Redid the changes:";

/** What a model is told of an answer that it did not hear. Undefined when that says nothing to it. */
export function noteOfAnswer(text: string): string | undefined {
  const [first = ""] = text.split("\n");
  if (first !== putBack && !first.startsWith(takenBack)) return undefined;
  return `The user undid changes of yours, or redid them. Read the files again before you rely on them.\n${text}`;
}

function linesOf({ title, result, hint }: Done, cwd: string): string[] {
  const { files, notes } = result;
  const lines = files.map((file) => `- ${fileLine(file, cwd)}`);
  if (!files.some(isDone)) return ["No file was changed:", ...lines, ...notes];
  return [title, ...lines, ...notes, hint];
}

function fileLine({ path, outcome, reason }: FileOutcome, cwd: string): string {
  const why = reason ?? (outcome === "merged" ? "your own changes to it stay" : undefined);
  return `${outcome} ${oneLine(relative(cwd, path))}${why === undefined ? "" : `: ${oneLine(why)}`}`;
}

/** It quotes lines, and may be as long as all changes. */
function shortened(report: string | undefined): string | undefined {
  const words = report === undefined ? undefined : withoutNotes(report);
  if (words === undefined || words.length <= maxNoteCharacters) return words;
  return `${words.slice(0, maxNoteCharacters).toWellFormed()}\n[there are more; cut here]`;
}

function isDone({ outcome }: FileOutcome): boolean {
  return outcome !== "refused";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
