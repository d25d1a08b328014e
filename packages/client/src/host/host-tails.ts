// Reports a session to its conversations: each entry once, in order, and each change of the state.

import type { Entry } from "@parley/acp";
import type { SessionStatus, StatusPatch, Tail, TailEvent } from "../conversation/session-link.ts";

interface Kept {
  readonly entry: Entry;
  readonly isPast: boolean;
}

/** About what an entry takes beside its text. */
const entryChars = 200;

export interface TailsOptions {
  /** How many characters of entries are kept for tails that begin later or were cut. */
  readonly keptChars: number;
  /** A tail is behind. */
  hold(isBehind: boolean): void;
}

export class HostTails {
  readonly #options: TailsOptions;
  readonly #listeners = new Set<(event: TailEvent) => void>();
  /** A cursor of another host is not known here. */
  readonly #name = crypto.randomUUID();
  /** The last entries. */
  #kept: Kept[] = [];
  #chars = 0;
  /** The number of entries that are not kept any more. */
  #dropped = 0;
  #status: SessionStatus | undefined;

  constructor(options: TailsOptions) {
    this.#options = options;
  }

  /** The number of the last entry. */
  get seq(): number {
    return this.#dropped + this.#kept.length;
  }

  /** `isPast`: it was there before the session was opened here. `status`: the state with this entry. */
  entry(entry: Entry, isPast = false, status?: SessionStatus): void {
    if (this.#options.keptChars === 0) {
      // nobody begins later
      this.#dropped += 1;
    } else {
      this.#kept.push({ entry, isPast });
      this.#limit(entry);
    }
    let event: TailEvent = { kind: "entries", entries: [entry], cursor: this.#cursor(this.seq) };
    // few have more, and an agent may send a hundred thousand
    if (isPast) event = { ...event, isPast };
    const patch = status && this.#changed(status);
    if (patch !== undefined) event = { ...event, status: patch };
    for (const listener of this.#listeners) listener(event);
  }

  /** Rarely: removing the first of many costs a copy. */
  #limit(entry: Entry): void {
    const { keptChars } = this.#options;
    this.#chars += charsOf(entry);
    if (this.#chars <= 1.25 * keptChars) return;
    let drop = 0;
    for (const each of this.#kept) {
      if (this.#chars <= keptChars) break;
      this.#chars -= charsOf(each.entry);
      drop += 1;
    }
    this.#kept = this.#kept.slice(drop);
    this.#dropped += drop;
  }

  /** Reports the fields that have changed. */
  status(status: SessionStatus): void {
    const patch = this.#changed(status);
    if (patch === undefined) return;
    for (const listener of this.#listeners) listener({ kind: "status", status: patch });
  }

  #changed(status: SessionStatus): StatusPatch | undefined {
    const before = this.#status;
    this.#status = status;
    return changedFields(before, status);
  }

  tail(cursor: string | undefined, listener: (event: TailEvent) => void): Tail {
    const { entries, isComplete } = this.#after(cursor);
    // of the last host, or too long ago
    if (cursor !== undefined && !isComplete) listener({ kind: "reset" });
    if (this.#status !== undefined) listener({ kind: "status", status: this.#status });
    let seq = this.seq - entries.length;
    for (const { entry, isPast } of entries) {
      seq += 1;
      const isOld = isPast || cursor === undefined || !isComplete;
      const at = this.#cursor(seq);
      listener({ kind: "entries", entries: [entry], cursor: at, ...(isOld && { isPast: true }) });
    }
    this.#listeners.add(listener);
    return {
      hold: (isBehind) => this.#options.hold(isBehind),
      stop: () => this.#listeners.delete(listener),
    };
  }

  #after(cursor: string | undefined): { readonly entries: readonly Kept[]; readonly isComplete: boolean } {
    const [name, number] = (cursor ?? "").split("/");
    const seen = Number(number);
    const isKnown =
      name === this.#name && Number.isInteger(seen) && seen >= this.#dropped && seen <= this.seq;
    if (!isKnown) return { entries: this.#kept, isComplete: this.#dropped === 0 && cursor === undefined };
    return { entries: this.#kept.slice(seen - this.#dropped), isComplete: true };
  }

  #cursor(seq: number): string {
    return `${this.#name}/${seq}`;
  }
}

function charsOf(entry: Entry): number {
  if (entry.kind !== "update") return entryChars;
  const { update } = entry;
  const text = "content" in update && isText(update.content) ? update.content.text.length : 0;
  const data = "data" in update && typeof update.data === "string" ? update.data.length : 0;
  return entryChars + text + data;
}

function isText(content: unknown): content is { readonly text: string } {
  return (
    typeof content === "object" && content !== null && "text" in content && typeof content.text === "string"
  );
}

/** Undefined if nothing has changed. */
function changedFields(before: SessionStatus | undefined, now: SessionStatus): StatusPatch | undefined {
  if (before === undefined) return now;
  const fields = new Set([...Object.keys(before), ...Object.keys(now)]);
  // as: the keys of a status
  const changed = ([...fields] as (keyof SessionStatus)[]).filter(
    (field) => !isSame(before[field], now[field]),
  );
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((field) => [field, now[field] ?? null]));
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, at) => isSame(each, other[at]));
  return JSON.stringify(one) === JSON.stringify(other);
}
