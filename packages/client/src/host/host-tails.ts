// Reports a session to its conversations: each entry once, in order, and each change of the state.

import type { Entry } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { SessionStatus, StatusPatch, Tail, TailEvent } from "../conversation/session-link.ts";

interface Kept {
  readonly entry: Entry;
  readonly isPast: boolean;
}

/** A tail that runs. */
interface Follower {
  readonly past: number;
  listener(event: TailEvent): void;
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
  readonly #followers = new Set<Follower>();
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
    const patch = status && this.#changed(status);
    for (const { listener, past } of this.#followers) {
      let event = this.#event([entry], this.seq, past);
      // few have more, and an agent may send a hundred thousand
      if (isPast) event = { ...event, isPast };
      if (patch !== undefined) event = { ...event, status: patch };
      listener(event);
    }
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
    for (const { listener } of this.#followers) listener({ kind: "status", status: patch });
  }

  #changed(status: SessionStatus): StatusPatch | undefined {
    const before = this.#status;
    this.#status = status;
    return changedFields(before, status);
  }

  tail(cursor: string | undefined, listener: (event: TailEvent) => void): Tail {
    const from = this.#placeOf(cursor);
    // of the last host, or too long ago
    if (from === undefined) listener({ kind: "reset" });
    const { seen, past } = from ?? { seen: this.#dropped, past: this.seq };
    const follower: Follower = { listener, past };
    this.#catchUp(follower, seen);
    this.#followers.add(follower);
    return {
      hold: (isBehind) => this.#options.hold(isBehind),
      stop: () => this.#followers.delete(follower),
    };
  }

  /** The past, then what is new, with the state: who sees the state has the entries. */
  #catchUp({ listener, past }: Follower, seen: number): void {
    const missed = this.#kept.slice(seen - this.#dropped);
    const isOld = ({ isPast }: Kept, at: number): boolean => isPast || seen + at + 1 <= past;
    const firstNew = missed.findIndex((each, at) => !isOld(each, at));
    const old = firstNew === -1 ? missed : missed.slice(0, firstNew);
    if (old.length > 0)
      listener({
        ...this.#event(
          old.map(({ entry }) => entry),
          seen + old.length,
          past,
        ),
        isPast: true,
      });
    const status = this.#status && whole(this.#status);
    const fresh = missed.slice(old.length).map(({ entry }) => entry);
    if (fresh.length > 0) listener({ ...this.#event(fresh, this.seq, past), ...optional({ status }) });
    else if (status !== undefined) listener({ kind: "status", status, cursor: this.#cursor(this.seq, past) });
  }

  #event(entries: readonly Entry[], seq: number, past: number): Extract<TailEvent, { kind: "entries" }> {
    return { kind: "entries", entries, cursor: this.#cursor(seq, past) };
  }

  /** Undefined for a cursor of another host, or of entries that are not kept any more. */
  #placeOf(cursor: string | undefined): { readonly seen: number; readonly past: number } | undefined {
    if (cursor === "" && this.#dropped === 0) return { seen: 0, past: 0 };
    if (cursor === undefined) return { seen: this.#dropped, past: this.seq };
    const [name, ...numbers] = cursor.split("/");
    const [seen = Number.NaN, past = Number.NaN] = numbers.map(Number);
    const isKnown = name === this.#name && seen >= this.#dropped && seen <= this.seq && past >= 0;
    return isKnown ? { seen, past } : undefined;
  }

  /** `past`: the last entry that was there before the first tail began. */
  #cursor(seen: number, past: number): string {
    return `${this.#name}/${seen}/${past}`;
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
  if (before === undefined) return whole(now);
  const fields = new Set([...Object.keys(before), ...Object.keys(now)]);
  // as: the keys of a status
  const changed = ([...fields] as (keyof SessionStatus)[]).filter(
    (field) => !isSame(before[field], now[field]),
  );
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((field) => [field, now[field] ?? null]));
}

/** With the fields that have no value: JSON leaves them out otherwise. */
function whole(status: SessionStatus): StatusPatch {
  return Object.fromEntries(Object.entries(status).map(([field, value]) => [field, value ?? null]));
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, at) => isSame(each, other[at]));
  return JSON.stringify(one) === JSON.stringify(other);
}
