// The review: all changes of a session, hunk by hunk, to keep or to undo.

import { relative } from "node:path";
import type { AttachedText } from "@parley/client";
import type { FileChange, Hunk } from "@parley/review";
import { clipped } from "../../draw/text-lines.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import { LineField } from "../../screen/line-field.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { escapedLine } from "../../terminal/sanitise.ts";
import { type Foot, framed, innerColumns, Scrolled, sheetRows } from "./frame.ts";
import { changedLine, countsText, fileRows, resultText } from "./review-lines.ts";
import type { ReviewChanges, ReviewResult, ReviewSource } from "./review-source.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

export interface ReviewSheetOptions {
  readonly paint: Paint;
  readonly review: ReviewSource;
  readonly closed: () => void;
  readonly redraw: () => void;
  /** Gets a comment for the agent. */
  readonly said: (comment: AttachedText) => void;
  /** Paths are shown relative to it. */
  readonly cwd?: string;
}

const keys = [
  "a keep",
  "u undo",
  "A/U whole file",
  "c comment",
  "z redo",
  "j/k [ ] move",
  "i not covered",
  "? keys",
  "q close",
];

/** In words, for whoever asks. */
const keyHelp = [
  "a or y: keep this hunk",
  "u or r: undo this hunk",
  "A or Y: keep all hunks of this file",
  "U or R: undo all hunks of this file",
  "z: put back what was undone here last",
  "c: write a comment about this hunk; the agent gets it with your next prompt",
  "j, Down: the next hunk",
  "k, Up: the hunk before",
  "]: the next file",
  "[: the file before",
  "Space, PgDn, PgUp: scroll",
  "i: what the review does not cover",
  "q, Esc: close",
];

export class ReviewSheet implements Sheet {
  readonly #options: ReviewSheetOptions;
  readonly #scrolled = new Scrolled();
  #changes: ReviewChanges | undefined;
  #file = 0;
  #hunk = 0;
  #isMoved = true;
  /** What is shown instead of the hunks. */
  #page: "uncovered" | "keys" | undefined;
  #comment: LineField | undefined;
  /** What is under way, and what became of it. */
  #pending = 0;
  #working = "";
  #said = "";
  #undone: ReviewResult[] = [];

  constructor(options: ReviewSheetOptions) {
    this.#options = options;
    this.#do("", async () => "");
  }

  // ---- keys

  key(key: KeyPress): void {
    if (this.#comment !== undefined) return this.#commentKey(this.#comment, key);
    if (key.id === "escape" || key.id === "ctrl+c" || key.text === "q") return this.#close();
    if (key.text === "i") this.#show(this.#page === "uncovered" ? undefined : "uncovered");
    else if (key.text === "?") this.#show(this.#page === "keys" ? undefined : "keys");
    else if (!this.#moved(key) && !this.#decided(key)) this.#scrolled.key(pageKey(key));
  }

  #close(): void {
    if (this.#page !== undefined) this.#show(undefined);
    else this.#options.closed();
  }

  #show(page: "uncovered" | "keys" | undefined): void {
    this.#page = page;
    this.#isMoved = true;
    this.#scrolled.toTop();
  }

  #moved({ id, text }: KeyPress): boolean {
    if (id === "down" || text === "j") this.#step(1);
    else if (id === "up" || text === "k") this.#step(-1);
    else if (text === "]") this.#go(this.#file + 1, 0);
    else if (text === "[") this.#go(this.#file - (this.#hunk > 0 ? 0 : 1), 0);
    else return false;
    return true;
  }

  #decided(key: KeyPress): boolean {
    // terminals report a shifted letter in two ways
    const letter = /^shift\+[a-z]$/.test(key.id) ? key.id.slice(-1).toUpperCase() : key.text;
    switch (letter) {
      case "a":
      case "y":
        this.#keep(this.#hunks(false));
        return true;
      case "A":
      case "Y":
        this.#keep(this.#hunks(true));
        return true;
      case "r":
      case "u":
        this.#undo(this.#hunks(false));
        return true;
      case "R":
      case "U":
        this.#undo(this.#hunks(true));
        return true;
      case "z":
        this.#redo();
        return true;
      case "c":
        if (this.#current() !== undefined) this.#comment = new LineField();
        return true;
      default:
        return false;
    }
  }

  #commentKey(comment: LineField, key: KeyPress): void {
    if (key.id !== "enter" && key.id !== "escape") return comment.handle(key);
    const { file, hunk } = this.#current() ?? {};
    const text = comment.text.trim();
    this.#comment = undefined;
    if (key.id === "escape" || text === "" || file === undefined || hunk === undefined) return;
    const where = hunk.kind === "lines" ? `, line ${changedLine(hunk)}` : "";
    const path = this.#path(file.path);
    this.#options.said({
      name: `a comment on ${path}`,
      text: `About your change of ${path}${where}: ${text}`,
    });
    this.#said = "The agent gets your comment with the next message.";
  }

  // ---- where the user is

  #current(): { readonly file: FileChange; readonly hunk: Hunk } | undefined {
    const file = this.#changes?.files[this.#file];
    const hunk = file?.hunks[this.#hunk];
    return file === undefined || hunk === undefined ? undefined : { file, hunk };
  }

  /** To the next hunk, or the one before, in the next file too. */
  #step(by: 1 | -1): void {
    const file = this.#changes?.files[this.#file];
    const at = this.#hunk + by;
    if (file?.hunks[at] !== undefined) return this.#go(this.#file, at);
    const next = this.#changes?.files[this.#file + by];
    if (next !== undefined) this.#go(this.#file + by, by > 0 ? 0 : next.hunks.length - 1);
  }

  #go(file: number, hunk: number): void {
    const files = this.#changes?.files ?? [];
    const at = Math.max(0, Math.min(file, files.length - 1));
    if (at !== this.#file) this.#scrolled.toTop();
    this.#file = at;
    this.#hunk = Math.max(0, Math.min(hunk, (files[at]?.hunks.length ?? 1) - 1));
    this.#isMoved = true;
    this.#page = undefined;
  }

  #toNextOpen(): void {
    const files = this.#changes?.files ?? [];
    const all = files.flatMap(({ hunks }, file) => hunks.map(({ state }, hunk) => ({ file, hunk, state })));
    const isAfter = ({ file, hunk }: { file: number; hunk: number }) =>
      file > this.#file || (file === this.#file && hunk >= this.#hunk);
    const open = all.filter(({ state }) => state === "open");
    const next = open.find(isAfter) ?? open[0];
    if (next !== undefined) this.#go(next.file, next.hunk);
  }

  // ---- decisions

  /** The hunk, or all of its file. */
  #hunks(isWholeFile: boolean): readonly Hunk[] {
    const current = this.#current();
    if (current === undefined || this.#page !== undefined) return [];
    return isWholeFile ? current.file.hunks : [current.hunk];
  }

  #keep(hunks: readonly Hunk[]): void {
    const open = hunks.filter(({ state }) => state === "open").map(({ id }) => id);
    if (open.length === 0) return this.#refuse(hunks, "kept");
    this.#do(
      "keeping …",
      async () => {
        const kept = await this.#options.review.keep(open);
        if (kept === 0) return "Not kept: it has changed since it was shown.";
        return kept === 1 ? "kept" : `${kept} hunks kept`;
      },
      true,
    );
  }

  #undo(hunks: readonly Hunk[]): void {
    const open = hunks.filter(({ state }) => state === "open").map(({ id }) => id);
    if (open.length === 0) return this.#refuse(hunks, "undone");
    this.#do(
      "undoing … (while the agent works, it waits)",
      async () => {
        const result = await this.#options.review.undo({ hunks: open });
        if (result.files.some(({ outcome }) => outcome !== "refused")) this.#undone.push(result);
        return resultText(result, (path) => this.#path(path));
      },
      true,
    );
  }

  #redo(): void {
    const last = this.#undone.pop();
    if (last === undefined) {
      this.#said = "Nothing was undone here.";
      return;
    }
    this.#do("putting it back … (while the agent works, it waits)", async () =>
      resultText(await this.#options.review.redo(last), (path) => this.#path(path)),
    );
  }

  #refuse(hunks: readonly Hunk[], what: "kept" | "undone"): void {
    const [hunk] = hunks;
    if (hunk === undefined) return;
    const { state, about } = hunk;
    if (state === what) this.#said = `It is ${state} already.`;
    else if (state === "kept") this.#said = "It was kept. What was kept is not undone here any more.";
    else this.#said = `It cannot be ${what}: ${escapedLine(about ?? `it is ${state}`)}`;
  }

  /** Does it, reads the changes again, and says what came of it. */
  #do(working: string, work: () => Promise<string>, goesOn = false): void {
    this.#pending += 1;
    this.#working = working;
    const done = async () => {
      const said = await work();
      const id = this.#current()?.hunk.id;
      this.#changes = await this.#options.review.changes();
      this.#find(id);
      this.#said = said;
      if (goesOn) this.#toNextOpen();
    };
    done()
      .catch((error: unknown) => {
        this.#said = escapedLine(error instanceof Error ? error.message : String(error));
      })
      .finally(() => {
        this.#pending -= 1;
        this.#options.redraw();
      });
  }

  /** The same hunk in new changes, or the same place. */
  #find(id: string | undefined): void {
    for (const [at, { hunks }] of (this.#changes?.files ?? []).entries()) {
      const hunk = hunks.findIndex((each) => each.id === id);
      if (hunk >= 0) return this.#go(at, hunk);
    }
    this.#go(this.#file, this.#hunk);
  }

  // ---- drawing

  #path(path: string): string {
    const { cwd } = this.#options;
    const near = cwd === undefined ? path : relative(cwd, path);
    return near === "" || /^\.\.(?:[\\/]|$)/.test(near) ? path : near;
  }

  draw(size: SheetSize): Tail {
    const columns = innerColumns(size);
    const { paint } = this.#options;
    const content = this.#rows(columns);
    const foot = this.#foot();
    return framed(size, {
      paint,
      head: this.#head(columns),
      content,
      scrolled: this.#scrolled,
      foot,
      isFull: true,
    });
  }

  #head(columns: number): string[] {
    const { paint, review } = this.#options;
    const changes = this.#changes;
    const uncovered = review.notCovered.length;
    const counts = changes === undefined || changes.files.length === 0 ? "" : `  ${countsText(changes)}`;
    const more = uncovered === 0 ? "" : " · not everything is covered (i)";
    const title = paint("strong", clipped(`Review${counts}${more}`, columns));
    const current = this.#current();
    if (current === undefined || changes === undefined || this.#page !== undefined) return [title, ""];
    const { path, kind, renamedFrom, hunks } = current.file;
    // those that are kept, too
    const sum = (of: "added" | "removed") => hunks.reduce((all, hunk) => all + hunk[of], 0);
    const from = renamedFrom === undefined ? "" : ` from ${this.#path(renamedFrom)}`;
    const what = kind === "changed" ? from : ` (${renamedFrom === undefined ? kind : "renamed"}${from})`;
    const where = `file ${this.#file + 1} of ${changes.files.length}, hunk ${this.#hunk + 1} of ${hunks.length}`;
    const tail = `  +${sum("added")} -${sum("removed")} · ${where}`;
    const room = Math.max(0, columns - tail.length);
    const name = clipped(escapedLine(`${this.#path(path)}${what}`), Math.max(10, room));
    return [title, `${paint("accent", name)}${room < 10 ? "" : paint("dim", tail)}`];
  }

  #rows(columns: number): readonly string[] {
    const { paint, review } = this.#options;
    if (this.#page === "keys") return keyHelp.flatMap((line) => sheetRows(line, columns));
    if (this.#page === "uncovered")
      return review.notCovered.length === 0 ? ["Everything is covered."] : this.#uncovered(columns);
    const current = this.#current();
    if (current === undefined && this.#changes === undefined)
      return [this.#pending > 0 ? "reading the changes …" : "the changes cannot be shown"];
    if (current === undefined) return ["nothing was changed", "", ...this.#uncovered(columns)];
    const { rows, first, last } = fileRows(current.file, current.hunk.id, columns, paint);
    if (this.#isMoved) this.#scrolled.reveal(first, last);
    this.#isMoved = false;
    return rows;
  }

  #uncovered(columns: number): string[] {
    return this.#options.review.notCovered.flatMap((line) => sheetRows(escapedLine(line), columns));
  }

  #foot(): Foot {
    const { paint } = this.#options;
    if (this.#comment !== undefined)
      return {
        lines: [paint("dim", "  Enter keeps it for the agent, Esc goes back")],
        field: { label: "  Comment: ", input: this.#comment },
      };
    const said = this.#pending > 0 ? this.#working : this.#said;
    return { lines: said === "" ? [] : [paint("warning", `  ${said}`)], answers: keys };
  }
}

/** Space reads on, as in a pager. */
function pageKey(key: KeyPress): KeyPress {
  return key.id === "space" || key.text === " " ? { ...key, id: "pageDown" } : key;
}
