// The names of modes. Four of the document have a meaning that our modes have under another name.

import type * as v1 from "@parley/acp/v1";
import { detailText, dialectDetails } from "./details.ts";

const ourNames: ReadonlyMap<string, string> = new Map([
  ["default", "ask"],
  ["plan", "architect"],
  ["ask", "chat"],
]);
const theirNames = new Map(Array.from(ourNames, ([theirs, ours]) => [ours, theirs]));

/** The names of one session's modes. Names without such a meaning pass as they are. */
export class ModeNames {
  readonly #ours = new Map<string, string>();
  readonly #theirs = new Map<string, string>();

  /** From the modes of our agent. A mode that came from a dialect keeps its name. */
  static ofOurs(modes: readonly v1.SessionMode[]): ModeNames {
    const names = new ModeNames();
    const wanted = modes.map((mode): [string, string] => {
      const known = detailText(dialectDetails(mode)?.["mode"]);
      return [mode.id, known ?? theirNames.get(mode.id) ?? mode.id];
    });
    for (const [ours, theirs] of distinct(wanted)) names.#pair(ours, theirs);
    // the document's architect is ours too; an agent of the dialect has said all of its modes
    const isOurs = modes.every((mode) => dialectDetails(mode) === undefined);
    if (isOurs && names.#theirs.has("architect") && !names.#ours.has("architect"))
      names.#ours.set("architect", "architect");
    return names;
  }

  /** From the names that an agent of the dialect declared. */
  static ofTheirs(declared: readonly string[]): ModeNames {
    const names = new ModeNames();
    const wanted = [...new Set(declared)].map((name): [string, string] => [name, ourNames.get(name) ?? name]);
    for (const [theirs, ours] of distinct(wanted)) names.#pair(ours, theirs);
    return names;
  }

  /** The names of the dialect, in order. */
  get declared(): string[] {
    return [...this.#ours.keys()];
  }

  ours(theirs: string): string {
    return this.#ours.get(theirs) ?? ourNames.get(theirs) ?? theirs;
  }

  theirs(ours: string): string {
    return this.#theirs.get(ours) ?? theirNames.get(ours) ?? ours;
  }

  /** The name that was set is the name that is sent back. */
  setAs(theirs: string): void {
    this.#theirs.set(this.ours(theirs), theirs);
  }

  #pair(ours: string, theirs: string): void {
    this.#ours.set(theirs, ours);
    this.#theirs.set(ours, theirs);
  }
}

/** No two modes get one name: names that stay as they are come first, and a later one keeps its own or gets a number. */
function distinct(wanted: readonly [from: string, to: string][]): [string, string][] {
  const taken = new Set(wanted.filter(([from, to]) => from === to).map(([, to]) => to));
  return wanted.map(([from, to]) => {
    if (from === to) return [from, to];
    let name = taken.has(to) ? from : to;
    for (let n = 2; taken.has(name); n++) name = `${from}-${n}`;
    taken.add(name);
    return [from, name];
  });
}
