// Stores a ledger, and reads it back: each file as a part of its own, which is written again only when it has changed.

import type { DoneHunk } from "./change-list.ts";
import type { FileLedger } from "./file-ledger.ts";
import { at, fileState, type Numbers, type Restored, restoredFile } from "./file-state.ts";
import type { ReportState } from "./report.ts";
import type { UndoneHunk } from "./reversal.ts";
import type { Hunk } from "./review-types.ts";

/** An undo that can be undone. */
export interface Undo {
  readonly hunks: readonly { readonly undone: UndoneHunk; readonly shown: DoneHunk }[];
}

/** Keeps a text and gives its name. Undefined if there is no room for it. */
export type PutText = (text: string) => Promise<string | undefined>;

/** Reads what was stored. */
export interface ReadStored {
  /** A part, by its name. Undefined if it is lost. */
  part(name: string): Promise<string | undefined>;
  /** A content that a source of this folder keeps. */
  content(root: string, id: string): Promise<Buffer>;
}

/** What is stored beside the files. */
export interface LedgerState {
  readonly epoch: number;
  readonly report: ReportState;
  /** The names of the parts. */
  readonly files: readonly string[];
  readonly done: readonly { readonly file: string; readonly hunk: Hunk }[];
  readonly undos: readonly {
    readonly id: number;
    readonly hunks: readonly {
      readonly done: number;
      readonly events: readonly (readonly [event: number, state: UndoneHunk["events"][number]["state"]])[];
      readonly bodies?: readonly [before: number, after: number];
    }[];
  }[];
}

export interface SavedLedger {
  readonly state: LedgerState;
  /** How many files there was no room for. */
  readonly leftOut: number;
}

interface Parts {
  readonly files: Iterable<FileLedger>;
  readonly done: readonly DoneHunk[];
  readonly undos: ReadonlyMap<number, Undo>;
}

export class LedgerStore {
  /** Where each file is stored. */
  readonly #saved = new Map<FileLedger, Numbers & { readonly name: string }>();

  async save(
    { files, done, undos }: Parts,
    put: PutText,
    rest: Pick<LedgerState, "epoch" | "report">,
  ): Promise<SavedLedger> {
    const undone = [...undos.values()].flatMap(({ hunks }) => hunks);
    const names: string[] = [];
    let leftOut = 0;
    for (const file of files) {
      if (file.isUnsaved) {
        const own = undone.filter(({ shown }) => shown.file === file).map(({ undone: hunk }) => hunk);
        const { text, numbers } = fileState(file, own);
        const name = await put(text);
        file.isUnsaved = name === undefined;
        if (name === undefined) this.#saved.delete(file);
        else this.#saved.set(file, { name, ...numbers });
      }
      const saved = this.#saved.get(file);
      if (saved === undefined) leftOut += 1;
      else names.push(saved.name);
    }
    const kept = done.filter(({ file }) => this.#saved.has(file));
    const numbers = new Map(kept.map((each, index) => [each, index]));
    const state: LedgerState = {
      ...rest,
      files: names,
      done: kept.flatMap(({ file, hunk }) => {
        const { name } = this.#saved.get(file) ?? {};
        return name === undefined ? [] : [{ file: name, hunk }];
      }),
      undos: Array.from(undos, ([id, { hunks }]) => ({
        id,
        hunks: hunks.flatMap(({ undone: hunk, shown }) => {
          const number = numbers.get(shown);
          const saved = this.#saved.get(shown.file);
          return number === undefined || saved === undefined ? [] : [undoneState(hunk, number, saved)];
        }),
      })),
    };
    return { state, leftOut };
  }

  async restore(
    state: LedgerState,
    { part, content }: ReadStored,
  ): Promise<{ files: FileLedger[]; done: DoneHunk[]; undos: [number, Undo][]; lost: number }> {
    const restored = new Map<string, Restored>();
    for (const name of state.files) {
      const text = await part(name);
      if (text === undefined) continue;
      const one = restoredFile(text, content);
      restored.set(name, one);
      this.#saved.set(one.file, { name, events: numbersOf(one.events), bodies: numbersOf(one.bodies) });
    }
    const shown = state.done.map(({ file, hunk }) => {
      const found = restored.get(file);
      return found === undefined
        ? undefined
        : { found, done: { file: found.file, hunk: { ...hunk, about: hunk.about } } };
    });
    const undos = state.undos.map(({ id, hunks }): [number, Undo] => [
      id,
      {
        hunks: hunks.flatMap((each) => {
          const one = shown[each.done];
          if (one === undefined) return [];
          const { file, events, bodies } = one.found;
          const undone: UndoneHunk = {
            file,
            events: each.events.map(([event, how]) => ({ event: at(events, event), state: how })),
            bodies: each.bodies && { before: at(bodies, each.bodies[0]), after: at(bodies, each.bodies[1]) },
          };
          return [{ undone, shown: one.done }];
        }),
      },
    ]);
    return {
      files: Array.from(restored.values(), ({ file }) => file),
      done: shown.flatMap((each) => (each === undefined ? [] : [each.done])),
      undos,
      lost: state.files.length - restored.size,
    };
  }
}

function undoneState(
  { events, bodies }: UndoneHunk,
  done: number,
  saved: Numbers,
): LedgerState["undos"][number]["hunks"][number] {
  const stored = events.map(
    ({ event, state }) => [numberOf(saved.events, event), state] as const, // a pair, not a list
  );
  if (bodies === undefined) return { done, events: stored };
  const { before, after } = bodies;
  return { done, events: stored, bodies: [numberOf(saved.bodies, before), numberOf(saved.bodies, after)] };
}

function numbersOf<Thing>(things: readonly Thing[]): Map<Thing, number> {
  return new Map(things.map((thing, number) => [thing, number]));
}

function numberOf<Thing>(numbers: ReadonlyMap<Thing, number>, thing: Thing): number {
  const number = numbers.get(thing);
  if (number === undefined) throw new Error("an undo names what its file does not have");
  return number;
}
