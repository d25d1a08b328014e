// All files of a review: what each turn did, what was kept, what was undone.

import type { FolderChanges, Source } from "../files/source.ts";
import { changeList, type DoneHunk, type Drafted, draftFiles, fullPath, renamesOf } from "./change-list.ts";
import { type Draft, draftFile, type View } from "./drafts.ts";
import { FileLedger } from "./file-ledger.ts";
import {
  type LedgerState,
  LedgerStore,
  type PutText,
  type ReadStored,
  type SavedLedger,
  type Undo,
} from "./ledger-store.ts";
import { Report } from "./report.ts";
import {
  hasUserEvents,
  markUndone,
  redoObstacle,
  refreshFile,
  type UndoneHunk,
  unmark,
  type WriteOptions,
  writeFile,
} from "./reversal.ts";
import type { Changes, FileOutcome, Hunk, UndoTarget } from "./review-types.ts";

interface Chosen {
  readonly file: FileLedger;
  readonly drafts: Draft[];
  /** Hunks that are not there any more. */
  gone: number;
}

export class Ledger {
  readonly #files = new Map<string, FileLedger>();
  readonly #report = new Report();
  /** Where the ids that were handed out belong to. */
  readonly #shown = new Map<string, { readonly file: FileLedger; readonly view: View }>();
  readonly #undos = new Map<number, Undo>();
  readonly #store = new LedgerStore();
  #done: DoneHunk[] = [];
  #epoch = 0;

  record(source: Source, { files }: FolderChanges, turn: number): void {
    this.#epoch += 2;
    for (const { path, before, after } of files) {
      const key = `${source.root}\0${path}`;
      const known = this.#files.get(key);
      const file = known ?? new FileLedger(source.root, path, source.hash, before);
      // what differs from the end of the last turn is the user's
      known?.record(before, this.#epoch - 1, 0);
      file.record(after, this.#epoch, turn);
      this.#files.set(key, file);
    }
  }

  /** Records what the user changed since the last turn. */
  async refresh(): Promise<void> {
    this.#epoch += 1;
    for (const file of this.#files.values()) if (file.isOpen) await refreshFile(file, this.#epoch);
  }

  changes(view: View): Changes {
    const drafted = draftFiles(this.#files.values(), view);
    for (const { file, drafts } of drafted) {
      for (const { hunk } of drafts) this.#shown.set(hunk.id, { file, view });
    }
    const done = this.#done.filter(
      ({ hunk }) => view === undefined || hunk.turns.some((turn) => view.has(turn)),
    );
    return changeList(drafted, done);
  }

  /** Marks hunks as wanted. Says how many were found. */
  keep(ids: readonly string[]): number {
    let count = 0;
    for (const { file, drafts } of this.#choose(ids)) {
      if (drafts.length > 0) file.isUnsaved = true;
      for (const { events, hunk } of drafts) {
        for (const event of events) event.state = "kept";
        this.#done.push({ file, hunk: { ...hunk, state: "kept" } });
        count += 1;
      }
    }
    return count;
  }

  async undo(
    id: number,
    target: UndoTarget,
    options: WriteOptions,
  ): Promise<{ readonly outcomes: readonly FileOutcome[]; readonly kept: number }> {
    const view = "turn" in target ? new Set([target.turn]) : undefined;
    const drafted = "turn" in target ? draftFiles(this.#files.values(), view) : [];
    const chosen =
      "turn" in target
        ? drafted.map(({ file, drafts }) => ({ file, drafts: [...drafts], gone: 0 }))
        : this.#choose(target.hunks);
    const hunks: Undo["hunks"][number][] = [];
    const outcomes: FileOutcome[] = [];
    for (const each of removalsFirst(chosen)) {
      const { undone, outcomes: own } = await this.#undoFile(each, view, options);
      hunks.push(...undone);
      outcomes.push(...own);
    }
    this.#undos.set(id, { hunks });
    this.#report.undone(
      id,
      hunks.map(({ shown }) => ({ path: fullPath(shown.file), hunk: shown.hunk })),
    );
    this.#done.push(...hunks.map(({ shown }) => shown));
    const kept = this.#done.filter(
      ({ hunk }) => hunk.state === "kept" && view !== undefined && hunk.turns.some((turn) => view.has(turn)),
    );
    return { outcomes, kept: kept.length };
  }

  async #undoFile({ file, drafts, gone }: Chosen, view: View, options: WriteOptions) {
    this.#epoch += 2;
    const path = fullPath(file);
    const outcomes: FileOutcome[] = [];
    const refuse = (reason: string) => outcomes.push({ path, outcome: "refused", reason });
    const expected = await refreshFile(file, this.#epoch - 1);
    // the user's changes since may be in the way now
    const views = new Map(drafts.map(({ hunk }) => [hunk.id, view ?? this.#shown.get(hunk.id)?.view]));
    const current = [...new Set(views.values())].flatMap((each) => draftFile(file, each).drafts);
    const open: Draft[] = [];
    for (const { hunk } of drafts) {
      const now = current.find((draft) => draft.hunk.id === hunk.id);
      if (now === undefined) gone += 1;
      else if (now.hunk.state === "open") open.push(now);
      else refuse(now.hunk.about ?? now.hunk.state);
    }
    if (gone > 0) refuse("it changed since it was shown; look at the changes again");
    if (open.length === 0) return { undone: [], outcomes };
    const since = Math.min(...open.flatMap(({ events }) => events.map(({ epoch }) => epoch)));
    const isMerged = hasUserEvents(file.body, since);
    const marks = markUndone(file, open, this.#epoch);
    const problem = await writeFile(file, expected, options);
    if (problem !== undefined) {
      unmark(marks);
      refuse(problem);
      return { undone: [], outcomes };
    }
    outcomes.push({ path, outcome: isMerged ? "merged" : "undone", reason: undefined });
    const undone = marks.map((mark, index) => ({
      undone: mark,
      shown: { file, hunk: asUndone(open[index]) },
    }));
    return { undone, outcomes };
  }

  /** Puts back what an undo took away. */
  async redo(id: number, options: WriteOptions): Promise<readonly FileOutcome[] | undefined> {
    const undo = this.#undos.get(id);
    if (undo === undefined) return undefined;
    this.#undos.delete(id);
    const outcomes: FileOutcome[] = [];
    const redone: DoneHunk[] = [];
    for (const file of new Set(undo.hunks.toReversed().map(({ shown }) => shown.file))) {
      this.#epoch += 1;
      const path = fullPath(file);
      const expected = await refreshFile(file, this.#epoch);
      const own = undo.hunks.filter(({ shown }) => shown.file === file);
      const problems = own.map(({ undone }) => redoObstacle(undone));
      const free = own.filter((_, index) => problems[index] === undefined);
      const reason = problems.find((problem) => problem !== undefined);
      if (reason !== undefined) outcomes.push({ path, outcome: "refused", reason });
      if (free.length === 0) continue;
      const undoneAt = free[0]?.undone.events[0]?.event.undoneAt ?? 0;
      const isMerged = hasUserEvents(file.body, undoneAt);
      const marks = free.map(({ undone }) => undone);
      unmark(marks);
      const problem = await writeFile(file, expected, options);
      if (problem === undefined) {
        outcomes.push({ path, outcome: isMerged ? "merged" : "redone", reason: undefined });
        redone.push(...free.map(({ shown }) => shown));
        continue;
      }
      remark(marks, undoneAt);
      outcomes.push({ path, outcome: "refused", reason: problem });
    }
    this.#done = this.#done.filter((each) => !redone.includes(each));
    this.#report.redone(
      id,
      redone.map(({ file, hunk }) => ({ path: fullPath(file), hunk })),
    );
    return outcomes;
  }

  /** The undos that can be redone, the oldest first. */
  get undone(): readonly number[] {
    return Array.from(this.#undos, ([id, { hunks }]) => (hunks.length === 0 ? [] : [id])).flat();
  }

  takeReport(): string | undefined {
    return this.#report.take();
  }

  /** Stores all of it. Gives what is to be stored beside the files. */
  save(put: PutText): Promise<SavedLedger> {
    const parts = { files: this.#files.values(), done: this.#done, undos: this.#undos };
    return this.#store.save(parts, put, { epoch: this.#epoch, report: this.#report.state });
  }

  /** Continues what was stored. */
  async restore(state: LedgerState, read: ReadStored): Promise<void> {
    const { files, done, undos } = await this.#store.restore(state, read);
    for (const file of files) this.#files.set(`${file.root}\0${file.path}`, file);
    for (const [id, undo] of undos) this.#undos.set(id, undo);
    this.#done = done;
    this.#epoch = state.epoch;
    this.#report.restore(state.report);
  }

  /** The hunks with these ids, by file. The two halves of a renamed file belong together. */
  #choose(ids: readonly string[]): Chosen[] {
    const chosen = new Map<FileLedger, Chosen>();
    const of = (file: FileLedger) => {
      const found = chosen.get(file) ?? { file, drafts: [], gone: 0 };
      chosen.set(file, found);
      return found;
    };
    for (const id of new Set(ids)) {
      const shown = this.#shown.get(id);
      if (shown === undefined)
        throw new TypeError(`there is no hunk ${JSON.stringify(id)}; take the ids that changes() gives`);
      const draft = draftFile(shown.file, shown.view).drafts.find(({ hunk }) => hunk.id === id);
      const entry = of(shown.file);
      if (draft === undefined) entry.gone += 1;
      else entry.drafts.push(draft);
    }
    const views = new Set([...ids].map((id) => this.#shown.get(id)?.view));
    for (const view of views) this.#addRenamed(draftFiles(this.#files.values(), view), chosen, of);
    return [...chosen.values()];
  }

  #addRenamed(
    drafted: readonly Drafted[],
    chosen: ReadonlyMap<FileLedger, Chosen>,
    of: (file: FileLedger) => Chosen,
  ): void {
    for (const [to, from] of renamesOf(drafted)) {
      if (chosen.has(to) === chosen.has(from)) continue;
      const missing = chosen.has(to) ? from : to;
      for (const draft of drafted.find(({ file }) => file === missing)?.drafts ?? [])
        of(missing).drafts.push(draft);
    }
  }
}

/** Files that go make room for those that come back: a folder may be where a file was. */
function removalsFirst(chosen: readonly Chosen[]): Chosen[] {
  const isRemoval = ({ file }: Chosen) => (draftFile(file, undefined).kind === "created" ? 0 : 1);
  return chosen.toSorted((one, other) => isRemoval(one) - isRemoval(other));
}

function asUndone(draft: Draft | undefined): Hunk {
  if (draft === undefined) throw new Error("every mark belongs to a hunk");
  return { ...draft.hunk, state: "undone" };
}

/** A redo that could not be written. */
function remark(marks: readonly UndoneHunk[], undoneAt: number): void {
  for (const { file, events, bodies } of marks) {
    file.isUnsaved = true;
    for (const { event } of events) {
      event.state = "undone";
      event.undoneAt = undoneAt;
    }
    if (bodies !== undefined) file.body = bodies.after;
  }
}
