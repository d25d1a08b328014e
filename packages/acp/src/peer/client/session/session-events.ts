// Delivers the updates and entries of one session to its listeners.

import { isPromiseLike, optional } from "../../../base/objects.ts";
import { anyObject, count, fields, flag, listOf, type Shape } from "../../../base/shape.ts";
import { reportRejection } from "../../../jsonrpc/callbacks.ts";
import type { Log } from "../../../jsonrpc/connection-options.ts";
import { argumentText } from "../../../jsonrpc/errors.ts";
import type { Entry, EntryBody } from "../../../model/entry.ts";
import { entryFormat } from "../../../model/entry-format.ts";
import type { SessionUpdate } from "../../../model/update.ts";
import type { SessionListener } from "./client-session.ts";

/** What the events of a session hold, as JSON. */
export interface SessionEventsState {
  readonly seq: number;
  /** The entries that no listener has had, with the sizes of their messages. Absent once there was a listener. */
  readonly backlog?: EntryBacklogState;
}

interface EntryBacklogState {
  readonly entries: readonly Entry[];
  readonly sizes: readonly number[];
  readonly hasLost: boolean;
}

export const sessionEventsShape: Shape = fields(
  { seq: count },
  { backlog: fields({ entries: listOf(anyObject), sizes: listOf(count), hasLost: flag }) },
);

export class SessionEvents {
  readonly #updateListeners = new Set<SessionListener<SessionUpdate>>();
  readonly #entryListeners = new Set<SessionListener<Entry>>();
  readonly #log: Log;
  /** Until the first listener has had it. */
  #backlog: EntryBacklog | undefined;
  #updatesClaimed = false;
  #entriesClaimed = false;
  #seq: number;
  #hasReportedLoss = false;
  #hasReportedPromise = false;
  #isOver = false;

  /** `state`: goes on from there, for listeners that are still to come. */
  constructor(log: Log, state?: SessionEventsState) {
    this.#log = log;
    this.#seq = state?.seq ?? 0;
    this.#backlog = new EntryBacklog(state?.backlog);
  }

  get state(): SessionEventsState {
    const isUnclaimed = !this.#updatesClaimed && !this.#entriesClaimed;
    return { seq: this.#seq, ...optional({ backlog: isUnclaimed ? this.#backlog?.state : undefined }) };
  }

  /** Nothing more will come. */
  end(): void {
    this.#isOver = true;
  }

  onUpdate(listener: SessionListener<SessionUpdate>): () => void {
    this.#checkOver();
    this.#add("onUpdate", this.#updateListeners, listener);
    if (!this.#updatesClaimed) {
      for (const entry of this.#claim()) if (entry.kind === "update") this.#call(listener, entry.update);
    }
    this.#updatesClaimed = true;
    return () => this.#updateListeners.delete(listener);
  }

  onEntry(listener: SessionListener<Entry>): () => void {
    this.#checkOver();
    this.#add("onEntry", this.#entryListeners, listener);
    if (!this.#entriesClaimed) for (const entry of this.#claim()) this.#call(listener, entry);
    this.#entriesClaimed = true;
    return () => this.#entryListeners.delete(listener);
  }

  /** Adds the listeners of an activation. A session that is loaded again may be given those that it has. */
  listen(
    onUpdate: SessionListener<SessionUpdate> | undefined,
    onEntry: SessionListener<Entry> | undefined,
  ): void {
    if (onUpdate !== undefined && !this.#updateListeners.has(onUpdate)) this.onUpdate(onUpdate);
    if (onEntry !== undefined && !this.#entryListeners.has(onEntry)) this.onEntry(onEntry);
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

  /** What the first listener of a kind gets of the past. */
  #claim(): readonly Entry[] {
    // without a backlog the other kind of listener has had what came before
    if ((this.#backlog === undefined || this.#backlog.hasLost) && !this.#hasReportedLoss) {
      this.#hasReportedLoss = true;
      this.#log("warn", lateListener, {});
    }
    return this.#backlog?.entries ?? [];
  }

  #add<Value>(name: string, listeners: Set<SessionListener<Value>>, listener: SessionListener<Value>): void {
    addListener(name, listeners, listener);
    if (listeners.size === manyListeners)
      this.#log("warn", `the session has ${manyListeners} listeners of ${name}; ${removeListeners}`, {});
  }

  #checkOver(): void {
    if (this.#isOver) this.#log("warn", overListener, {});
  }

  #call<Value>(listener: SessionListener<Value>, value: Value): void {
    try {
      const returned: unknown = listener(value);
      if (returned !== undefined) this.#returned(returned);
    } catch (error) {
      this.#listenerFailed(error);
    }
  }

  #returned(returned: unknown): void {
    if (!isPromiseLike(returned)) return;
    if (!this.#hasReportedPromise) this.#log("warn", asyncListener, {});
    this.#hasReportedPromise = true;
    reportRejection(returned, (error) => this.#listenerFailed(error));
  }

  #listenerFailed(error: unknown): void {
    this.#log("error", "a listener threw", { error });
  }
}

/** A program that adds one for each prompt and removes none is slower with each prompt. */
const manyListeners = 100;
const removeListeners = "remove those that are not needed, with the function that each registration returned";
const lateListener =
  "a listener was registered late and has missed updates; pass it to newSession, loadSession or resumeSession as " +
  "onUpdate or onEntry";
const overListener = "a listener was registered after the session had ended; it gets nothing new";
const asyncListener =
  "a listener returned a promise, but nothing awaits it, so the listener may get the next update before it has finished; " +
  "make it synchronous, or iterate a prompt";

function addListener<Value>(
  name: string,
  listeners: Set<SessionListener<Value>>,
  listener: SessionListener<Value>,
): void {
  if (typeof listener !== "function")
    throw new TypeError(`${name}: expected a function, got ${argumentText(listener)}`);
  if (listeners.has(listener)) {
    const advice = "remove it first, with the function that its registration returned";
    throw new TypeError(`${name}: this listener is already registered; ${advice}`);
  }
  listeners.add(listener);
}

const maxEntries = 1_024;
const maxChars = 8 * 1024 * 1024;

/** Keeps the entries of a session for its first listener, within bounds. */
class EntryBacklog {
  readonly entries: Entry[] = [];
  readonly #sizes: number[] = [];
  #chars = 0;
  /** Whether entries were dropped. */
  hasLost = false;

  constructor(state?: EntryBacklogState) {
    if (state === undefined) return;
    for (const [at, entry] of state.entries.entries()) this.push(entry, state.sizes[at] ?? 0);
    this.hasLost = state.hasLost;
  }

  get state(): EntryBacklogState {
    return { entries: this.entries, sizes: this.#sizes, hasLost: this.hasLost };
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
    if (dropped > 0) this.hasLost = true;
  }
}

/** The same value, frozen all the way down. */
export function frozen<Value>(value: Value): Value {
  // views on binary data cannot be frozen
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
    return value;
  Object.freeze(value);
  for (const item of Object.values(value)) frozen(item);
  return value;
}
