// A review: turns, snapshots at both ends of each, and what the user decides about their changes.

import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { Queue } from "./files/queue.ts";
import type { Source } from "./files/source.ts";
import type { BytePath } from "./files/version.ts";
import { Ledger } from "./ledger/ledger.ts";
import type { Changes, Review, Turn, UndoResult, UndoTarget } from "./ledger/review-types.ts";
import { installedFolders } from "./manifest/installed-folders.ts";
import type { Sources } from "./sources.ts";
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

export class ReviewSession implements Review {
  readonly #sources: Sources;
  readonly #folder: SessionFolder;
  /** Ends git where it runs. */
  readonly #ending: AbortController;
  readonly #queue = new Queue();
  readonly #ledger = new Ledger();
  readonly #turns: (Turn & { readonly startedAt: number })[] = [];
  #running: RunningTurn | undefined;
  #failures: readonly string[] = [];
  #undos = 0;

  constructor(sources: Sources, folder: SessionFolder, ending: AbortController) {
    this.#sources = sources;
    this.#folder = folder;
    this.#ending = ending;
  }

  get notCovered(): readonly string[] {
    return [...this.#sources.notCovered, ...this.#failures];
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  beginTurn(label?: string): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#running !== undefined) throw new Error("a turn is running; call endTurn first");
      const failures = new Map<Source, string>();
      const startedAt = Date.now();
      await this.#sources.visit(async (source) => {
        await source.begin().catch((error: Error) => failures.set(source, error.message));
      });
      const installed = await installedFolders(this.#sources.roots);
      this.#running = { number: this.#turns.length + 1, label, startedAt, failures, installed };
    });
  }

  endTurn(): Promise<Turn> {
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
          failures.set(source, error instanceof Error ? error.message : String(error));
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
      const turn = { number, label, notes, startedAt, changes: this.#ledger.changes(new Set([number])) };
      this.#turns.push(turn);
      return turn;
    });
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
    return this.#queue.run(async () => this.#ledger.keep(hunks));
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
    await this.#queue.run(() => this.#folder.close());
    clearTimeout(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function bytePath(path: string): BytePath {
  return Buffer.from(sep === "/" ? path : path.replaceAll(sep, "/")).toString("latin1");
}
