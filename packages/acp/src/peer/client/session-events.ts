// Delivers the updates and entries of one session to its listeners.

import { reportRejection } from "../../jsonrpc/callbacks.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import type { Entry, EntryBody } from "../../model/entry.ts";
import { entryFormat } from "../../model/entry-format.ts";
import type { SessionUpdate } from "../../model/update.ts";

export class SessionEvents {
  readonly #updateListeners = new Set<(update: SessionUpdate) => void>();
  readonly #entryListeners = new Set<(entry: Entry) => void>();
  readonly #log: Log;
  /** Until the first listener has had it. */
  #backlog: EntryBacklog | undefined = new EntryBacklog();
  #updatesClaimed = false;
  #entriesClaimed = false;
  #seq = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  onUpdate(listener: (update: SessionUpdate) => void): () => void {
    this.#updateListeners.add(listener);
    if (!this.#updatesClaimed) {
      for (const entry of this.#claim()) if (entry.kind === "update") this.#call(listener, entry.update);
    }
    this.#updatesClaimed = true;
    return () => this.#updateListeners.delete(listener);
  }

  onEntry(listener: (entry: Entry) => void): () => void {
    this.#entryListeners.add(listener);
    if (!this.#entriesClaimed) for (const entry of this.#claim()) this.#call(listener, entry);
    this.#entriesClaimed = true;
    return () => this.#entryListeners.delete(listener);
  }

  /** Calls the listeners of updates; `recordUpdate` is for those of entries. */
  update(update: SessionUpdate): void {
    for (const listener of this.#updateListeners) this.#call(listener, update);
  }

  /** `chars` is the size of the message that brought the update. */
  recordUpdate(update: SessionUpdate, chars: number): void {
    if (this.#entryListeners.size > 0 || this.#backlog !== undefined)
      this.record({ kind: "update", update }, chars);
    else this.#seq++;
  }

  record(body: EntryBody, chars: number): void {
    this.deliver({ format: entryFormat, seq: ++this.#seq, time: Date.now(), ...body }, chars);
  }

  deliver(entry: Entry, chars: number): void {
    // one kind of listener is here: the other may still join it until something new comes
    if (this.#updatesClaimed || this.#entriesClaimed) this.#backlog = undefined;
    else this.#backlog?.push(entry, chars);
    for (const listener of this.#entryListeners) this.#call(listener, entry);
  }

  #claim(): readonly Entry[] {
    const lost = this.#backlog?.takeLost() ?? 0;
    if (lost > 0) this.#log("warn", "updates were lost before anybody listened", { lost });
    return this.#backlog?.entries ?? [];
  }

  #call<Value>(listener: (value: Value) => unknown, value: Value): void {
    try {
      const returned: unknown = listener(value);
      if (returned !== undefined) reportRejection(returned, (error) => this.#listenerFailed(error));
    } catch (error) {
      this.#listenerFailed(error);
    }
  }

  #listenerFailed(error: unknown): void {
    this.#log("error", "a listener threw", { error });
  }
}

const maxEntries = 1_024;
const maxChars = 8 * 1024 * 1024;

/** Keeps the entries of a session for its first listener, within bounds. */
class EntryBacklog {
  readonly entries: Entry[] = [];
  readonly #sizes: number[] = [];
  #chars = 0;
  #lost = 0;

  /** How many entries were dropped since the last call. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  push(entry: Entry, chars: number): void {
    this.entries.push(entry);
    this.#sizes.push(chars);
    this.#chars += chars;
    if (this.entries.length > maxEntries || this.#chars > maxChars) this.#dropOldest();
  }

  /** Drops half at once, so that each entry costs the same. */
  #dropOldest(): void {
    const drop = this.entries.length > maxEntries ? maxEntries / 2 : 0;
    let dropped = 0;
    while (dropped < drop || (this.#chars > maxChars && dropped < this.entries.length)) {
      this.#chars -= this.#sizes[dropped] ?? 0;
      dropped++;
    }
    this.entries.splice(0, dropped);
    this.#sizes.splice(0, dropped);
    this.#lost += dropped;
  }
}
