// Buffers updates for the iterator of a prompt, within bounds.

import { limitsFrom } from "../../../jsonrpc/connection-options.ts";
import { ConnectionError } from "../../../jsonrpc/errors.ts";
import type { SessionUpdate } from "../../../model/update.ts";

/** How much may wait for a loop over a prompt before the loop fails with "overflow". */
export interface UnreadLimits {
  readonly maxUnreadUpdates: number;
  readonly maxUnreadChars: number;
}

const defaultUnreadLimits: UnreadLimits = {
  maxUnreadUpdates: 16_384,
  maxUnreadChars: 32 * 1024 * 1024,
};

/** The defaults, changed by a client's definition. */
export function unreadLimits({
  maxUnreadUpdates,
  maxUnreadChars,
}: NonNullable<Parameters<typeof limitsFrom<UnreadLimits>>[1]>): UnreadLimits {
  return limitsFrom(defaultUnreadLimits, { maxUnreadUpdates, maxUnreadChars });
}

/** Kept before an iterator begins, which may never happen; an iterator that lags by more gets joined text. */
const unhurried = 1_024;

const takenText = {
  iterated:
    "this prompt already has a loop over its updates or a call of text(), and updates are delivered only once; use " +
    "session.onUpdate for more listeners",
  awaited:
    "this prompt was awaited before the loop over its updates began, so none were kept; iterate or call text() before " +
    "you await, or use session.onUpdate",
};

/** An update that waits for a loop, and the size of the message that brought it. */
export interface Unread {
  readonly update: SessionUpdate;
  readonly chars: number;
}

export class UnreadUpdates {
  readonly #limits: UnreadLimits;
  #queue: Unread[] = [];
  #head = 0;
  #chars = 0;
  #state: "waiting" | "read" | "lost" | "stopped" = "waiting";
  /** Why no iterator may begin. */
  #taken: "iterated" | "awaited" | undefined;

  constructor(limits: UnreadLimits, waiting: readonly Unread[] = []) {
    this.#limits = limits;
    for (const { update, chars } of waiting) this.push(update, chars);
  }

  /** What no loop has read yet. */
  get waiting(): readonly Unread[] {
    return this.#queue.slice(this.#head);
  }

  /** An iterator begins. Throws a TypeError for a second one, and after `forgo`. */
  begin(): void {
    if (this.#taken !== undefined) throw new TypeError(takenText[this.#taken]);
    this.#taken = "iterated";
    if (this.#state !== "lost") this.#state = "read";
  }

  /** Keeps nothing, unless an iterator has begun. */
  forgo(): void {
    if (this.#taken !== undefined) return;
    this.#taken = "awaited";
    this.stop();
  }

  /** The iterator has ended. */
  stop(): void {
    this.#state = "stopped";
    this.#drop();
  }

  push(update: SessionUpdate, chars: number): void {
    if (this.#state === "lost" || this.#state === "stopped") return;
    const count = this.#queue.length - this.#head;
    // joining costs as much as an update, so only for an iterator that reads
    const last = this.#state === "read" && count >= unhurried ? this.#queue.at(-1) : undefined;
    const joined = last === undefined ? undefined : joinedText(last.update, update);
    this.#chars += chars;
    if (last !== undefined && joined !== undefined) {
      this.#queue[this.#queue.length - 1] = { update: joined, chars: last.chars + chars };
    } else this.#queue.push({ update, chars });
    const { maxUnreadUpdates, maxUnreadChars } = this.#limits;
    const most = this.#state === "waiting" ? Math.min(unhurried, maxUnreadUpdates) : maxUnreadUpdates;
    if (this.#queue.length - this.#head > most || this.#chars > maxUnreadChars) {
      this.#state = "lost";
      this.#drop();
    }
  }

  /** The next one, if there is one. Throws when some are missing. */
  take(): SessionUpdate | undefined {
    if (this.#state === "lost") throw overflow(this.#limits);
    const next = this.#queue[this.#head];
    if (next === undefined) return undefined;
    this.#head++;
    this.#chars -= next.chars;
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
    } else if (this.#head >= unhurried) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return next.update;
  }

  #drop(): void {
    this.#queue = [];
    this.#head = 0;
    this.#chars = 0;
  }
}

function overflow({ maxUnreadUpdates, maxUnreadChars }: UnreadLimits): ConnectionError {
  return new ConnectionError(
    "overflow",
    `this loop over a prompt began too late or is too slow: more than ${maxUnreadUpdates} updates or ${maxUnreadChars} ` +
      "characters (1,024 updates before it begins) were waiting. The prompt goes on; use session.onUpdate, do less " +
      "per update, or raise maxUnreadUpdates and maxUnreadChars of the client",
  );
}

/** Roughly the size of the message that brought an update. */
export function charsOf(update: SessionUpdate): number {
  if (update.sessionUpdate === "agent_message_chunk" || update.sessionUpdate === "agent_thought_chunk") {
    if (update.content.type === "text") return update.content.text.length;
  }
  return JSON.stringify(update).length;
}

/** Joins two chunks of plain text of one message. */
export function joinedText(last: SessionUpdate, next: SessionUpdate): SessionUpdate | undefined {
  if (next.sessionUpdate !== "agent_message_chunk" && next.sessionUpdate !== "agent_thought_chunk")
    return undefined;
  if (last.sessionUpdate !== next.sessionUpdate || last.messageId !== next.messageId) return undefined;
  if (!isPlain(last) || !isPlain(next)) return undefined;
  if (last.content.type !== "text" || next.content.type !== "text") return undefined;
  if (!isPlain(last.content) || !isPlain(next.content)) return undefined;
  // a new object: updates are shared with other listeners
  return { ...last, content: { ...last.content, text: last.content.text + next.content.text } };
}

function isPlain(value: { readonly _meta?: unknown; readonly annotations?: unknown }): boolean {
  return value._meta == null && value.annotations == null;
}
