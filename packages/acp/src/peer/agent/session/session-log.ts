// Writes a session's entries to its store. Streamed text is joined per message and written at most every 250
// ms, because a chunk is worth little and there are many; everything else is written as it comes, and what
// must be stored before it is answered is waited for.

import { RequestError } from "../../../jsonrpc/errors.ts";
import type { Entry, EntryBody } from "../../../model/entry.ts";
import { jsonCopy } from "../../../model/json-copy.ts";
import type { SessionPatch, SessionStore } from "../../../model/store.ts";
import type { Update } from "../../../model/update.ts";

const flushMs = 250;
/** And at once when so many wait: what is kept for long is copied by the garbage collector, and more than once. */
const flushEntries = 128;

/** What is written was copied, or made here. */
const owned = { owned: true };

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

/** Numbered when it is written, so that what is taken back leaves no gap. */
type Waiting = { seq: number; readonly time: number } & EntryBody;

interface OpenText {
  readonly sessionUpdate: "agent_message_chunk" | "agent_thought_chunk";
  readonly messageId: string;
  text: string;
}

export class SessionLog {
  readonly #store: SessionStore;
  readonly #sessionId: string;
  readonly #options: SessionLogOptions;
  /** Prompts and questions by their ids. */
  #unanswered: Set<string> | undefined;
  #nextSeq: number;
  #open: OpenText | undefined;
  #pending: Waiting[] = [];
  #inFlight = 0;
  /** The store has not taken the last write yet. */
  #isBehind = false;
  /** Characters that came while the store was behind: most entries are gone before anybody asks. */
  #unstored = 0;
  #unstoredInFlight = 0;
  #isFull = false;
  #isClosed = false;
  #writing: Promise<void> = Promise.resolve();
  /** The last of `#writing` has not begun: it takes what comes until then along. */
  #isWriteDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: SessionStore, sessionId: string, options: SessionLogOptions) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#options = options;
    this.#nextSeq = options.nextSeq;
  }

  /** Throws when more waits for the store than may: what can never be stored must not be said, nor kept. */
  checkRoom(): void {
    if (this.#unstored + this.#unstoredInFlight <= this.#options.maxUnstored) {
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
    if (this.#open !== undefined) this.#closeText();
    // a literal: a spread of the body costs as much as the copy
    this.#add({ seq: 0, time: Date.now(), kind: "update", update: jsonCopy(update) });
  }

  /** Writes what waits; whoever still holds it later writes nothing into a session that somebody else may have. */
  close(): Promise<void> {
    const stored = this.flush();
    this.#isClosed = true;
    return stored;
  }

  /** A copy of it: whoever said it may go on with the same objects before it is written. */
  append(body: EntryBody): void {
    if (this.#isClosed) return;
    this.#follow(body);
    this.#closeText();
    this.#add({ seq: 0, time: Date.now(), ...jsonCopy(body) });
  }

  #follow(body: EntryBody): void {
    if (body.kind === "update") return;
    // many sessions are opened and never spoken to: they need no set
    this.#unanswered ??= new Set();
    const id = "messageId" in body ? body.messageId : body.askId;
    if (body.kind === "prompt" || body.kind === "ask") this.#unanswered.add(id);
    else this.#unanswered.delete(id);
  }

  #add(waiting: Waiting): void {
    this.#push(waiting);
    // the timer goes on: to set a new one for each write costs more than to wake up for nothing
    const isDue = this.#pending.length >= flushEntries && !this.#isBehind && !this.#isWriteDue;
    if (isDue) this.#write().catch(this.#options.fail);
    else this.#timer ??= setTimeout(() => this.#tick(), flushMs);
  }

  /** Takes back the prompt of a message that could not be stored, and was therefore refused. */
  takeBack(messageId: string): void {
    this.#unanswered?.delete(messageId);
    this.#pending = this.#pending.filter(
      (waiting) => waiting.kind !== "prompt" || waiting.messageId !== messageId,
    );
    if (this.#unstored > 0) this.#unstored = sizeOf(this.#pending);
  }

  /** Changes the session's record, and notes when it was last used. */
  patch(patch: SessionPatch): void {
    this.#store.patch(this.#sessionId, { updatedAt: Date.now(), ...patch }).catch(this.#options.fail);
  }

  /** The last entry, where all is stored and no prompt and no question waits for its end; else nothing. */
  get settledSeq(): number | undefined {
    const isStored = this.#pending.length === 0 && this.#inFlight === 0 && this.#open === undefined;
    return isStored && !this.#unanswered?.size ? this.#nextSeq - 1 : undefined;
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
    return this.#write();
  }

  #write(): Promise<void> {
    if (this.#isWriteDue || this.#pending.length === 0) return this.#writing;
    this.#isWriteDue = true;
    // one write at a time; a failed one fails those who waited for it, and is tried again by the next
    const before = this.#writing.catch(() => undefined);
    this.#writing = before.then(() => this.#writePending());
    return this.#writing;
  }

  async #writePending(): Promise<void> {
    this.#isWriteDue = false;
    const waiting = this.#pending;
    if (waiting.length === 0) return;
    this.#pending = [];
    this.#inFlight = waiting.length;
    this.#isBehind = true;
    this.#unstoredInFlight = this.#unstored;
    this.#unstored = 0;
    try {
      let seq = this.#nextSeq;
      for (const each of waiting) each.seq = seq++;
      await this.#store.append(this.#sessionId, waiting as readonly Entry[], owned);
      this.#nextSeq = seq;
      this.#isBehind = false;
    } catch (error) {
      // nothing of it was stored: all of it is tried again
      this.#pending = [...waiting, ...this.#pending];
      this.#unstored = sizeOf(this.#pending);
      throw error;
    } finally {
      this.#inFlight = 0;
      this.#unstoredInFlight = 0;
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
    const update: Update = { sessionUpdate, messageId, content: { type: "text", text } };
    this.#push({ seq: 0, time: Date.now(), kind: "update", update });
  }

  #push(waiting: Waiting): void {
    this.#pending.push(waiting);
    if (this.#isBehind) this.#unstored += JSON.stringify(waiting).length;
  }
}

function sizeOf(entries: readonly Waiting[]): number {
  return entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
}
