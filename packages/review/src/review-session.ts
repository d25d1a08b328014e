// A review: turns, snapshots at both ends of each, and what the user decides about their changes.

import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { Queue } from "./files/queue.ts";
import type { Source } from "./files/source.ts";
import type { BytePath } from "./files/version.ts";
import { Ledger } from "./ledger/ledger.ts";
import type { LedgerState } from "./ledger/ledger-store.ts";
import type { Changes, PastTurn, Review, ReviewTurn, UndoResult, UndoTarget } from "./ledger/review-types.ts";
import { installedFolders } from "./manifest/installed-folders.ts";
import type { Sources } from "./sources.ts";
import { folderProblem } from "./storage/folder-problem.ts";
import type { Parts } from "./storage/parts.ts";
import type { SessionFolder } from "./storage/sessions.ts";

/** A snapshot that hangs, such as on a pipe that an agent left behind, is ended when the user has left. */
const patienceMs = 3_000;

interface RunningTurn {
  readonly number: number;
  readonly label: string | undefined;
  readonly startedAt: number;
  readonly failures: Map<Source, string>;
  readonly installed: readonly string[];
}

type KnownTurn = PastTurn & { readonly startedAt: number };

/** What is stored of a session. Another number means another shape. */
interface StoredSession {
  readonly format: 1;
  readonly turns: readonly KnownTurn[];
  readonly undos: number;
  readonly ledger: LedgerState;
}

export interface ReviewParts {
  readonly sources: Sources;
  readonly folder: SessionFolder;
  /** Where the turns are stored, so that another process can go on. */
  readonly parts: Parts | undefined;
  /** Ends git where it runs. */
  readonly ending: AbortController;
}

export class ReviewSession implements Review {
  readonly #sources: Sources;
  readonly #folder: SessionFolder;
  readonly #parts: Parts | undefined;
  readonly #ending: AbortController;
  readonly #queue = new Queue();
  readonly #ledger = new Ledger();
  #turns: readonly KnownTurn[] = [];
  #running: RunningTurn | undefined;
  #failures: readonly string[] = [];
  /** About the turns of earlier processes. */
  #earlier: readonly string[] = [];
  /** Why the turns are not stored. */
  #unsaved: string | undefined;
  #undos = 0;

  constructor({ sources, folder, parts, ending }: ReviewParts) {
    this.#sources = sources;
    this.#folder = folder;
    this.#parts = parts;
    this.#ending = ending;
  }

  get notCovered(): readonly string[] {
    const unsaved = this.#unsaved === undefined ? [] : [this.#unsaved];
    return [...this.#earlier, ...this.#sources.notCovered, ...this.#failures, ...unsaved];
  }

  get turns(): readonly PastTurn[] {
    return this.#turns;
  }

  get undone(): readonly number[] {
    return this.#ledger.undone;
  }

  // ---- what is stored

  /** Reads the turns of earlier processes. */
  async restore(): Promise<void> {
    const parts = this.#parts;
    const { isBusy, cutOff } = this.#folder;
    const sentences: string[] = [];
    if (isBusy)
      sentences.push(
        "Another process has this session open. Its earlier turns cannot be shown or undone here.",
      );
    if (cutOff !== undefined)
      sentences.push(`Turn ${cutOff} was cut off. What it changed cannot be shown or undone.`);
    try {
      const head = await parts?.head();
      const stored = head === undefined ? undefined : (JSON.parse(head) as StoredSession); // its hash says that we wrote it
      if (parts !== undefined && stored !== undefined) {
        if (stored.format !== 1) throw new Error("another version of this program wrote it");
        await this.#ledger.restore(stored.ledger, {
          part: (name) => parts.part(name),
          content: (root, id) => this.#sources.content(root, id),
        });
        this.#turns = stored.turns.map((each) => ({ ...each, label: each.label }));
        this.#undos = stored.undos;
      }
      await parts?.clean();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      sentences.push(`The earlier turns of this session cannot be shown or undone: ${why}.`);
    }
    this.#earlier = sentences;
  }

  /** A failure does not undo what was done: the sentence says that it is not stored. */
  async #save(): Promise<void> {
    const parts = this.#parts;
    if (parts === undefined) return;
    try {
      const { state, leftOut } = await this.#ledger.save((text) => parts.put(text));
      const stored: StoredSession = { format: 1, turns: this.#turns, undos: this.#undos, ledger: state };
      await parts.commit(JSON.stringify(stored), new Set(state.files));
      this.#unsaved =
        leftOut === 0
          ? undefined
          : `The changes of ${leftOut} files are too large to be stored. They can be undone until this process ends.`;
    } catch (error) {
      this.#unsaved = `The turns are not stored: ${folderProblem(this.#folder.path, error).message}. They can be undone until this process ends.`;
    }
  }

  // ---- turns

  beginTurn(label?: string): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#running !== undefined) throw new Error("a turn is running; call endTurn first");
      const failures = new Map<Source, string>();
      const startedAt = Date.now();
      await this.#sources.visit(async (source) => {
        await source.begin().catch((error: unknown) => failures.set(source, this.#reasonOf(error)));
      });
      // a full disk must not stop the turn
      await this.#folder.turn.begin(this.#turns.length + 1).catch(() => undefined);
      const installed = await installedFolders(this.#sources.roots);
      this.#running = { number: this.#turns.length + 1, label, startedAt, failures, installed };
    });
  }

  endTurn(): Promise<ReviewTurn> {
    return this.#queue.run(async () => {
      const running = this.#running;
      if (running === undefined) throw new Error("no turn is running; call beginTurn first");
      this.#running = undefined;
      const { number, label, startedAt, failures } = running;
      const notes: string[] = [];
      for (const source of this.#sources.all) {
        if (failures.has(source)) continue;
        try {
          const changes = await source.end();
          this.#ledger.record(source, changes, number);
          notes.push(...changes.notes);
        } catch (error) {
          failures.set(source, this.#reasonOf(error));
        }
      }
      const fresh = await this.#sources.visit(async () => undefined);
      for (const { root } of fresh)
        notes.push(`${root} became a repository in this turn. Undo does not remove it.`);
      const installed = await installedFolders(this.#sources.roots);
      const changed = installed
        .filter((each) => !running.installed.includes(each))
        .map((each) => each.split("\0")[0]);
      if (changed.length > 0)
        notes.push(`Installed files changed in ${changed.join(", ")}. Undo does not take back installs.`);
      this.#failures = Array.from(
        failures,
        ([{ root }, why]) => `${root}: turn ${number} is not covered: ${why}.`,
      );
      notes.push(...this.#failures);
      this.#turns = [...this.#turns, { number, label, notes, startedAt }];
      const before = this.#unsaved;
      await this.#save();
      await this.#folder.turn.end().catch(() => undefined);
      if (this.#unsaved !== undefined && this.#unsaved !== before) notes.push(this.#unsaved);
      return { number, label, notes, changes: this.#ledger.changes(new Set([number])) };
    });
  }

  /** Of a snapshot that failed. A full disk is ours: the workspace is only read. */
  #reasonOf(error: unknown): string {
    const said = error instanceof Error ? error.message : String(error);
    const isFull = /ENOSPC|EDQUOT|No space left|[Qq]uota exceeded/.test(said);
    return isFull ? folderProblem(this.#folder.path, error).message : said;
  }

  protect(path: string): Promise<boolean> {
    return this.#queue.run(async () => {
      const folder = await realpath(dirname(path)).catch(() => undefined);
      const file = folder === undefined ? undefined : join(folder, basename(path));
      const source = file === undefined ? undefined : this.#sourceOf(file);
      if (file === undefined || source === undefined) return false;
      const inside = bytePath(relative(source.root, file));
      if (inside === "" || inside.split("/").includes(".git")) return false;
      if (await source.covers(inside)) return true;
      return this.#sources.protectedFilesOf(source.root).protect(inside, this.#running !== undefined);
    });
  }

  #sourceOf(file: string): Source | undefined {
    return this.#sources.watched
      .filter(({ root }) => file.startsWith(root.endsWith(sep) ? root : `${root}${sep}`))
      .sort((one, other) => other.root.length - one.root.length)[0];
  }

  changes(options: { readonly turns?: readonly number[] } = {}): Promise<Changes> {
    return this.#queue.run(async () => {
      if (this.#running === undefined) await this.#ledger.refresh();
      return this.#ledger.changes(options.turns === undefined ? undefined : new Set(options.turns));
    });
  }

  keep(hunks: readonly string[]): Promise<number> {
    return this.#queue.run(async () => {
      const kept = this.#ledger.keep(hunks);
      await this.#save();
      return kept;
    });
  }

  undo(target: UndoTarget): Promise<UndoResult> {
    return this.#queue.run(async () => {
      this.#checkIdle("undo");
      const turn = "turn" in target ? this.#turns[target.turn - 1] : undefined;
      if ("turn" in target && turn === undefined) {
        throw new TypeError(`there is no turn ${target.turn}; the last one is ${this.#turns.length}`);
      }
      this.#undos += 1;
      const id = this.#undos;
      const { outcomes, kept } = await this.#ledger.undo(id, target, this.#writeOptions());
      await this.#save();
      const notes = [...(turn?.notes ?? [])];
      if (kept > 0)
        notes.push(
          `${kept === 1 ? "1 change of this turn was kept and stays" : `${kept} changes of this turn were kept and stay`}.`,
        );
      return { id, files: outcomes, notes };
    });
  }

  redo(result: Pick<UndoResult, "id">): Promise<UndoResult> {
    return this.#queue.run(async () => {
      this.#checkIdle("redo");
      const files = await this.#ledger.redo(result.id, this.#writeOptions());
      if (files === undefined)
        throw new Error(
          `undo ${result.id} cannot be redone: there is no such undo, or it was redone already`,
        );
      await this.#save();
      return { id: result.id, files, notes: [] };
    });
  }

  #checkIdle(what: string): void {
    if (this.#running !== undefined) throw new Error(`a turn is running; ${what} when it has ended`);
  }

  #writeOptions() {
    return { foldersSince: this.#turns[0]?.startedAt ?? Date.now(), temporary: this.#folder.temporary };
  }

  takeReport(): string | undefined {
    return this.#ledger.takeReport();
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => this.#ending.abort(), patienceMs);
    await this.#queue.run(async () => {
      if (this.#turns.length > 0) await this.#save();
      await this.#folder.close();
    });
    clearTimeout(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function bytePath(path: string): BytePath {
  return Buffer.from(sep === "/" ? path : path.replaceAll(sep, "/")).toString("latin1");
}
