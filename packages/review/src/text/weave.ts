// The lines of a file over time, each with who added and removed it. A file without some of these events is the file as it
// would be if they had not happened: this is how changes of an agent are told from those of the user, and taken back.

import { compareLines } from "./lines.ts";

/** One appearance or disappearance of a line. */
export interface LineEvent {
  /** The order of all events of a review. */
  readonly epoch: number;
  /** The turn of the agent, or 0 for the user and for what was there at first. */
  readonly turn: number;
  readonly isInsert: boolean;
  state: "open" | "kept" | "undone";
  /** When it was undone. */
  undoneAt: number;
}

/** One line, also one that is not in the file any more. */
export interface WeaveEntry {
  readonly id: number;
  readonly text: string;
  readonly events: readonly LineEvent[];
}

/** Which events a view takes as the agent's. */
export type IsOfView = (event: LineEvent) => boolean;

/** What every line has that was there at first. Never changed, so all of them share it. */
export const base: readonly LineEvent[] = [{ epoch: 0, turn: 0, isInsert: true, state: "open", undoneAt: 0 }];

export function newEvent(epoch: number, turn: number, isInsert: boolean): LineEvent {
  return { epoch, turn, isInsert, state: "open", undoneAt: 0 };
}

/** The event that decides whether the line is there. */
export function lastEvent(entry: WeaveEntry, without?: IsOfView): LineEvent | undefined {
  for (let i = entry.events.length - 1; i >= 0; i -= 1) {
    const event = entry.events[i];
    if (event !== undefined && event.state !== "undone" && !without?.(event)) return event;
  }
  return undefined;
}

export function isPresent(entry: WeaveEntry, without?: IsOfView): boolean {
  return lastEvent(entry, without)?.isInsert === true;
}

/** A yes or no of a file with its history, such as whether it is there: a line without text. */
export class Flag {
  #entry: WeaveEntry;

  constructor(isSet: boolean) {
    this.#entry = { id: 0, text: "", events: isSet ? base : [] };
  }

  /** One that was stored. */
  static of(events: readonly LineEvent[]): Flag {
    const flag = new Flag(false);
    flag.#entry = { id: 0, text: "", events };
    return flag;
  }

  get entry(): WeaveEntry {
    return this.#entry;
  }

  get isSet(): boolean {
    return isPresent(this.#entry);
  }

  set(isSet: boolean, epoch: number, turn: number): void {
    if (isSet === this.isSet) return;
    this.#entry = withEvent(this.#entry, newEvent(epoch, turn, isSet));
  }
}

/** All lines that a file ever had, in order. */
export class Weave {
  #entries: WeaveEntry[];
  #nextId: number;

  constructor(lines: readonly string[]) {
    this.#entries = lines.map((text, index) => ({ id: index + 1, text, events: base }));
    this.#nextId = lines.length + 1;
  }

  /** One that was stored. */
  static of(entries: readonly WeaveEntry[], nextId: number): Weave {
    const weave = new Weave([]);
    weave.#entries = [...entries];
    weave.#nextId = nextId;
    return weave;
  }

  get entries(): readonly WeaveEntry[] {
    return this.#entries;
  }

  get nextId(): number {
    return this.#nextId;
  }

  lines(): string[] {
    return this.#entries.filter((entry) => isPresent(entry)).map(({ text }) => text);
  }

  /** Records that the file has these lines now. Says whether anything changed. */
  record(lines: readonly string[], epoch: number, turn: number): boolean {
    const steps = compareLines(this.lines(), lines);
    if (steps.every(({ kind }) => kind === "same")) return false;
    const old = this.#entries;
    const woven: WeaveEntry[] = [];
    let position = 0; // in `old`
    let line = 0; // in `lines`
    const takeDead = () => {
      for (let entry = old[position]; entry !== undefined && !isPresent(entry); entry = old[position]) {
        woven.push(entry);
        position += 1;
      }
    };
    for (const { kind, count } of steps) {
      if (kind === "added") {
        takeDead();
        this.#insert(woven, lines.slice(line, line + count), epoch, turn);
        line += count;
        continue;
      }
      for (let i = 0; i < count; i += 1) {
        takeDead();
        const entry = old[position];
        if (entry === undefined) throw new Error("a comparison has more lines than the file");
        position += 1;
        if (kind === "same") woven.push(entry);
        else woven.push(withEvent(entry, newEvent(epoch, turn, false)));
      }
      if (kind === "same") line += count;
    }
    for (const entry of old.slice(position)) woven.push(entry);
    // a line that the user wrote and removed again was never there
    this.#entries = woven.filter(({ events }) => events.length > 0);
    return true;
  }

  /** Adds lines at the end. A line that was here before and is gone comes back instead: it is the same line. */
  #insert(woven: WeaveEntry[], lines: readonly string[], epoch: number, turn: number): void {
    let start = woven.length;
    for (let entry = woven[start - 1]; entry !== undefined && !isPresent(entry); entry = woven[start - 1]) {
      start -= 1;
    }
    const gone = woven.splice(start);
    const event = newEvent(epoch, turn, true);
    const add = (text: string) => {
      // its own, as in withEvent: the user may split what was inserted at once
      woven.push({ id: this.#nextId, text, events: [{ ...event }] });
      this.#nextId += 1;
    };
    if (gone.length === 0) {
      lines.forEach(add);
      return;
    }
    let fromGone = 0;
    let fromLines = 0;
    for (const { kind, count } of compareLines(
      gone.map(({ text }) => text),
      lines,
    )) {
      for (let i = 0; i < count; i += 1) {
        const entry = kind === "added" ? undefined : gone[fromGone];
        if (entry !== undefined) {
          woven.push(kind === "same" ? withEvent(entry, event) : entry);
          fromGone += 1;
        } else add(lines[fromLines] ?? "");
        if (kind !== "removed") fromLines += 1;
      }
    }
  }
}

/** Events are told apart by themselves, so each line has its own. What the user did and took back did not happen. */
function withEvent(entry: WeaveEntry, event: LineEvent): WeaveEntry {
  const last = entry.events.at(-1);
  const isTakenBack = event.turn === 0 && last?.turn === 0 && last.epoch > 0 && last.state === "open";
  if (isTakenBack) return { ...entry, events: entry.events.slice(0, -1) };
  return { ...entry, events: [...entry.events, { ...event }] };
}
