// Writes a session's entries to its store. Streamed text is joined per message and written at most every 250
// ms, because a chunk is worth little and there are many; everything else is written as it comes, and what
// must be stored before it is answered is waited for.

import { RequestError } from "../jsonrpc/errors.ts";
import type { EntryBody } from "../model/entry.ts";
import type { SessionStore } from "../model/store.ts";
import type { Update } from "../model/update.ts";

const flushMs = 250;
/** And at once when so many wait: what is kept for long is copied by the garbage collector, and more than once. */
const flushEntries = 128;

/** How many characters of entries may wait for a store that is slow or fails. */
export const defaultMaxUnstored = 16 * 1024 * 1024;

/** What a log needs beside its store. */
export interface SessionLogOptions {
  readonly nextSeq: number;
  readonly maxUnstored: number;
  /** The store failed where nobody waits for it. */
  fail(error: unknown): void;
  /** No more is taken until the store has caught up. Called once each time that this begins. */
  full(): void;
}

interface Waiting {
  /** Numbered when it is written, so that what is taken back leaves no gap. */
  readonly entry: { seq: number; readonly time: number } & EntryBody;
  /** Characters; counted only while the store is behind, for most entries are gone before anybody asks. */
  size: number | undefined;
}

interface OpenText {
  readonly sessionUpdate: "agent_message_chunk" | "agent_thought_chunk";
  readonly messageId: string;
  text: string;
}

export class SessionLog {
  readonly #store: SessionStore;
  readonly #sessionId: string;
  readonly #options: SessionLogOptions;
  #nextSeq: number;
  #open: OpenText | undefined;
  #pending: Waiting[] = [];
  #inFlight = 0;
  /** The store has not taken the last write yet. */
  #isBehind = false;
  #unstored = 0;
  #isFull = false;
  #isClosed = false;
  #writing: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: SessionStore, sessionId: string, options: SessionLogOptions) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#options = options;
    this.#nextSeq = options.nextSeq;
  }

  /** Throws when more waits for the store than may: what can never be stored must not be said, nor kept. */
  checkRoom(): void {
    if (this.#unstored <= this.#options.maxUnstored) {
      this.#isFull = false;
      return;
    }
    if (!this.#isFull) this.#options.full();
    this.#isFull = true;
    const message = `more than ${this.#options.maxUnstored} characters wait for the session's store: try again later`;
    throw new RequestError(-32067, message, { reason: "unavailable" });
  }

  update(update: Update): void {
    if (this.#isClosed) return;
    if (update.sessionUpdate === "agent_message_chunk" || update.sessionUpdate === "agent_thought_chunk") {
      const { content, messageId, sessionUpdate } = update;
      if (
        content.type === "text" &&
        content.annotations == null &&
        content._meta == null &&
        update._meta == null
      ) {
        const open = this.#open;
        if (open !== undefined && open.messageId === messageId && open.sessionUpdate === sessionUpdate) {
          open.text += content.text;
          return;
        }
        this.#closeText();
        this.#open = { sessionUpdate, messageId, text: content.text };
        this.#timer ??= setTimeout(() => this.#tick(), flushMs);
        return;
      }
    }
    // states follow from prompts and outcomes, and notices are not history (A32)
    if (update.sessionUpdate === "state_update" || update.sessionUpdate === "notice") return;
    this.append({ kind: "update", update });
  }

  /** Writes what waits; whoever still holds it later writes nothing into a session that somebody else may have. */
  close(): Promise<void> {
    const stored = this.flush();
    this.#isClosed = true;
    return stored;
  }

  append(body: EntryBody): void {
    if (this.#isClosed) return;
    this.#closeText();
    this.#push(body);
    if (this.#pending.length >= flushEntries && !this.#isBehind) this.#tick();
    else this.#timer ??= setTimeout(() => this.#tick(), flushMs);
  }

  /** Takes back the prompt of a message that could not be stored, and was therefore refused. */
  takeBack(messageId: string): void {
    this.#pending = this.#pending.filter((waiting) => {
      const { entry } = waiting;
      const isIt = entry.kind === "prompt" && entry.messageId === messageId;
      if (isIt) this.#unstored -= waiting.size ?? 0;
      return !isIt;
    });
  }

  /** The number of the next entry: all before it has happened, and nothing after it has. */
  mark(): number {
    this.#closeText();
    return this.#nextSeq + this.#inFlight + this.#pending.length;
  }

  /** Resolves when everything so far is stored; rejects when it could not be. */
  flush(): Promise<void> {
    this.#closeText();
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.length === 0) return this.#writing;
    // one write at a time; a failed one fails those who waited for it, and is tried again by the next
    const before = this.#writing.catch(() => undefined);
    this.#writing = before.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const waiting = this.#pending;
    if (waiting.length === 0) return;
    this.#pending = [];
    this.#inFlight = waiting.length;
    this.#isBehind = true;
    try {
      for (const [i, { entry }] of waiting.entries()) entry.seq = this.#nextSeq + i;
      const entries = waiting.map(({ entry }) => entry);
      await this.#store.append(this.#sessionId, entries);
      this.#nextSeq += waiting.length;
      this.#isBehind = false;
      for (const { size = 0 } of waiting) this.#unstored -= size;
    } catch (error) {
      // nothing of it was stored: all of it is tried again
      this.#pending = [...waiting, ...this.#pending];
      for (const each of waiting) this.#count(each);
      throw error;
    } finally {
      this.#inFlight = 0;
    }
  }

  #tick(): void {
    this.flush().catch(this.#options.fail);
  }

  #closeText(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { sessionUpdate, messageId, text } = open;
    this.#push({ kind: "update", update: { sessionUpdate, messageId, content: { type: "text", text } } });
  }

  #push(body: EntryBody): void {
    const waiting: Waiting = { entry: { seq: 0, time: Date.now(), ...body }, size: undefined };
    this.#pending.push(waiting);
    if (this.#isBehind) this.#count(waiting);
  }

  #count(waiting: Waiting): void {
    if (waiting.size !== undefined) return;
    waiting.size = JSON.stringify(waiting.entry).length;
    this.#unstored += waiting.size;
  }
}
