// Writes a session's entries to its store. Streamed text is joined per message and written at most every 250 ms.

import { RequestError } from "../../../jsonrpc/errors.ts";
import type { Entry, EntryBody } from "../../../model/entry.ts";
import { entryFormat } from "../../../model/entry-format.ts";
import { jsonCopy } from "../../../model/json-copy.ts";
import type { SessionPatch, SessionStore } from "../../../model/store.ts";
import type { SessionUpdate } from "../../../model/update.ts";

const flushMs = 250;
/** As many are written at once: the garbage collector copies what is kept for long. */
const flushEntries = 128;

const owned = { owned: true };

/** How many characters of entries may wait for a store that is slow or fails. */
export const defaultMaxUnstored = 16 * 1024 * 1024;

export interface SessionLogOptions {
  readonly nextSeq: number;
  readonly maxUnstored: number;
  /** A write failed that no caller awaits. */
  fail(error: unknown): void;
  /** No more is taken until the store has caught up. Called once each time that this begins. */
  full(): void;
}

/** An entry gets its number when it is written, so that one that is taken back leaves no gap. */
type Waiting = { readonly format: typeof entryFormat; seq: number; readonly time: number } & EntryBody;

interface OpenText {
  readonly sessionUpdate: "agent_message_chunk" | "agent_thought_chunk";
  readonly messageId: string;
  text: string;
}

/** Entries in order. Their characters are only counted while the store is behind. */
interface Batch {
  entries: Waiting[];
  chars: number;
}

export class SessionLog {
  readonly #store: SessionStore;
  readonly #sessionId: string;
  readonly #options: SessionLogOptions;
  /** The ids of prompts and questions without an end. Most sessions are never prompted: they need no set. */
  #unanswered: Set<string> | undefined;
  #nextSeq: number;
  #open: OpenText | undefined;
  #state: "open" | "full" | "closed" = "open";
  #pending: Batch = { entries: [], chars: 0 };
  #inFlight: Batch = { entries: [], chars: 0 };
  /** The store has not taken the last write yet. */
  #isBehind = false;
  #writing: Promise<void> = Promise.resolve();
  /** The last of `#writing` has not begun, and will take along what comes until then. */
  #isWriteDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: SessionStore, sessionId: string, options: SessionLogOptions) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#options = options;
    this.#nextSeq = options.nextSeq;
  }

  /** Throws when more waits for the store than may: what cannot be stored must not be sent. */
  checkRoom(): void {
    const { maxUnstored, full } = this.#options;
    const isFull = this.#pending.chars + this.#inFlight.chars > maxUnstored;
    if (isFull && this.#state === "open") full();
    if (this.#state !== "closed") this.#state = isFull ? "full" : "open";
    if (!isFull) return;
    const message = `more than ${maxUnstored} characters wait for the session's store: try again later`;
    throw new RequestError("unavailable", message, { data: { reason: "unavailable" } });
  }

  update(update: SessionUpdate): void {
    if (this.#state === "closed") return;
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
    if (this.#open !== undefined) this.#closeText();
    // a literal: a spread of the body costs as much as the copy
    this.#add({ format: entryFormat, seq: 0, time: Date.now(), kind: "update", update: jsonCopy(update) });
  }

  /** Writes what waits, and takes no more: another process may have the session. */
  close(): Promise<void> {
    const stored = this.flush();
    this.#state = "closed";
    return stored;
  }

  /** Keeps a copy: the caller may change the objects before they are written. */
  append(body: EntryBody): void {
    if (this.#state === "closed") return;
    this.#follow(body);
    this.#closeText();
    this.#add({ format: entryFormat, seq: 0, time: Date.now(), ...jsonCopy(body) });
  }

  #follow(body: EntryBody): void {
    if (body.kind === "update") return;
    this.#unanswered ??= new Set();
    const id = "messageId" in body ? body.messageId : body.askId;
    if (body.kind === "prompt" || body.kind === "ask") this.#unanswered.add(id);
    else this.#unanswered.delete(id);
  }

  #add(waiting: Waiting): void {
    this.#push(waiting);
    // the timer stays: a new one for each write costs more than one tick for nothing
    const isDue = this.#pending.entries.length >= flushEntries && !this.#isBehind && !this.#isWriteDue;
    if (isDue) this.#write().catch(this.#options.fail);
    else this.#timer ??= setTimeout(() => this.#tick(), flushMs);
  }

  /** Takes back the prompt of a message that could not be stored, and was therefore refused. */
  takeBack(messageId: string): void {
    this.#unanswered?.delete(messageId);
    this.#pending.entries = this.#pending.entries.filter(
      (waiting) => waiting.kind !== "prompt" || waiting.messageId !== messageId,
    );
    if (this.#pending.chars > 0) this.#pending.chars = sizeOf(this.#pending.entries);
  }

  /** Changes the session's record, and notes when it was last used. */
  patch(patch: SessionPatch): void {
    this.#store.patch(this.#sessionId, { updatedAt: Date.now(), ...patch }).catch(this.#options.fail);
  }

  /** The number of the last entry, if all is stored and no prompt and no question waits for its end. */
  get settledSeq(): number | undefined {
    const isStored = this.#unstoredEntries === 0 && this.#open === undefined;
    return isStored && !this.#unanswered?.size ? this.#nextSeq - 1 : undefined;
  }

  /** The number that the next entry will get. */
  mark(): number {
    this.#closeText();
    return this.#nextSeq + this.#unstoredEntries;
  }

  get #unstoredEntries(): number {
    return this.#inFlight.entries.length + this.#pending.entries.length;
  }

  /** Reads every entry so far, also those that are not stored yet. */
  history(): AsyncIterable<Entry> {
    return this.#entriesBefore(this.mark());
  }

  async *#entriesBefore(end: number): AsyncGenerator<Entry> {
    await this.flush();
    for await (const entry of this.#store.entries(this.#sessionId)) {
      if (entry.seq >= end) return;
      yield entry;
    }
  }

  /** Resolves when everything so far is stored; rejects when it could not be. */
  flush(): Promise<void> {
    this.#closeText();
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#write();
  }

  #write(): Promise<void> {
    if (this.#isWriteDue || this.#pending.entries.length === 0) return this.#writing;
    this.#isWriteDue = true;
    // one write at a time; a failed one fails those who waited for it, and is tried again by the next
    const before = this.#writing.catch(() => undefined);
    this.#writing = before.then(() => this.#writePending());
    return this.#writing;
  }

  async #writePending(): Promise<void> {
    this.#isWriteDue = false;
    const batch = this.#pending;
    if (batch.entries.length === 0) return;
    this.#pending = { entries: [], chars: 0 };
    this.#inFlight = batch;
    this.#isBehind = true;
    try {
      let seq = this.#nextSeq;
      for (const each of batch.entries) each.seq = seq++;
      await this.#store.append(this.#sessionId, batch.entries as readonly Entry[], owned);
      this.#nextSeq = seq;
      this.#isBehind = false;
    } catch (error) {
      // none of it was stored: all of it is tried again
      const entries = [...batch.entries, ...this.#pending.entries];
      this.#pending = { entries, chars: sizeOf(entries) };
      throw error;
    } finally {
      this.#inFlight = { entries: [], chars: 0 };
    }
  }

  #tick(): void {
    this.#timer = undefined;
    this.flush().catch(this.#options.fail);
  }

  #closeText(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { sessionUpdate, messageId, text } = open;
    const update: SessionUpdate = { sessionUpdate, messageId, content: { type: "text", text } };
    this.#push({ format: entryFormat, seq: 0, time: Date.now(), kind: "update", update });
  }

  #push(waiting: Waiting): void {
    this.#pending.entries.push(waiting);
    if (this.#isBehind) this.#pending.chars += JSON.stringify(waiting).length;
  }
}

function sizeOf(entries: readonly Waiting[]): number {
  return entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
}
