// The review of the plain face: changes are listed by number, shown as lines, and kept or undone.

import { relative } from "node:path";
import type { FileChange, Hunk } from "@parley/review";
import { diffLines } from "../../draw/diff-lines.ts";
import { drawing } from "../../draw/draw-options.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { type NamedResult, resultLines } from "../review/result-lines.ts";
import type { SessionReview } from "../review/session-review.ts";
import { changedLine, hunkLines } from "../sheets/review-lines.ts";
import { type PickInput, pickByNumber } from "./pick-by-number.ts";

export interface PlainReviewOptions extends PickInput {
  readonly review: SessionReview;
  readonly cwd: string;
  readonly paint: Paint;
  readonly columns?: number | undefined;
  /** Whether the agent works: an undo waits then. */
  isBusy(): boolean;
}

interface OpenHunk {
  readonly file: FileChange;
  readonly hunk: Hunk;
}

/** Goes on until the user chooses nothing. */
export async function reviewPlainly(options: PlainReviewOptions): Promise<void> {
  const { review, cwd, say } = options;
  // opens it: before, nobody knows what is stored
  await review.changes();
  for (const text of review.notCovered) say(`Not covered: ${safeLine(text)}`);
  for (;;) {
    const { files } = await review.changes();
    const open = files.flatMap((file) =>
      file.hunks.filter(({ state }) => state === "open").map((hunk) => ({ file, hunk })),
    );
    const choices = open.map((value) => ({ label: labelOf(value.file, value.hunk, cwd), value }));
    const chosen = await pickByNumber("Changes to keep or undo", choices, options);
    if (chosen === undefined) return;
    await decide(chosen, options);
  }
}

async function decide({ file, hunk }: OpenHunk, options: PlainReviewOptions): Promise<void> {
  const { review, cwd, lines, say } = options;
  say(hunkText(hunk, file.path, options));
  const answer = (await lines.ask("k keeps it, u undoes it, Enter neither: "))?.trim().toLowerCase();
  if (answer === "k") {
    const kept = await review.keep([hunk.id]);
    return say(kept === 0 ? "Not kept: it has changed since it was shown." : "Kept.");
  }
  if (answer !== "u") return;
  sayIfBusy(options);
  say(resultLines(await review.undo({ hunks: [hunk.id] }), cwd).join("\n"));
}

/** Takes back a turn, or an undo. */
export async function takeBackPlainly(
  work: (review: SessionReview) => Promise<NamedResult | string>,
  options: PlainReviewOptions,
): Promise<void> {
  sayIfBusy(options);
  const result = await work(options.review);
  options.say(typeof result === "string" ? result : resultLines(result, options.cwd).join("\n"));
}

function sayIfBusy({ isBusy, say }: PlainReviewOptions): void {
  if (isBusy()) say("It is taken back when the turn has ended.");
}

function labelOf({ path, kind }: FileChange, hunk: Hunk, cwd: string) {
  const { added, removed, kind: part } = hunk;
  const where = part === "lines" ? `line ${changedLine(hunk)}` : part === "mode" ? "mode" : "whole file";
  const what = kind === "changed" ? "" : `, ${kind}`;
  return safeLine(`${relative(cwd, path)}, ${where}${what}, +${added} -${removed}`);
}

function hunkText(hunk: Hunk, path: string, { cwd, paint, columns }: PlainReviewOptions): string {
  const width = columns ?? Number.POSITIVE_INFINITY;
  const { about } = hunk;
  const shown = diffLines(
    hunkLines(hunk),
    { path, showsFiles: false },
    drawing({ width, paint, cwd, isExpanded: true }),
  );
  return [...(about === undefined ? [] : [safeLine(about)]), ...shown].join("\n");
}
