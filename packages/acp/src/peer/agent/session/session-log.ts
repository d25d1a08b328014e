// Writes a session's entries to its store. Streamed text is joined per message and written at most every 250 ms.

import { RequestError } from "../../../jsonrpc/errors.ts";
import type { Entry, EntryBody } from "../../../model/entry.ts";
import { entryFormat, parseEntry } from "../../../model/entry-format.ts";
import type { SessionPatch, SessionStore, StoredEntry } from "../../../model/store.ts";

const flushMs = 250;
/** As many are written at once: the garbage collector copies what is kept for long. */
const flushEntries = 512;
/** So many pieces of text are joined at once. */
const joinedPieces = 64;

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
interface Waiting extends StoredEntry {
  seq: number;
}

/** The kinds of update whose text grows. */
export type ChunkTag = "agent_message_chunk" | "agent_thought_chunk";

/** A message that may grow. */
interface OpenText {
  readonly tag: ChunkTag;
  /** The JSON of its updates up to their text. */
  readonly head: string;
  /** The JSON of the update up to its text, and pieces of text without their quotes. */
  readonly json: string[];
  /** What came before them, joined. */
  readonly blocks: string[];
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

  /** Adds an update as JSON text. */
  update(tag: string, text: string): void {
    if (this.#state === "closed") return;
    // states follow from prompts and outcomes, and notices are not history (A32)
    if (tag === "state_update" || tag === "notice") return;
    this.#closeText();
    this.#add({ format: entryFormat, seq: 0, time: Date.now(), kind: "update", tag, text });
  }

  /** Adds plain text to a message, as a JSON string. `head` is the JSON of the update up to the text. */
  text(tag: ChunkTag, head: string, json: string): void {
    if (this.#state === "closed") return;
    const open = this.#open;
    if (open !== undefined && open.head === head) {
      open.json.push(json.slice(1, -1));
      // small pieces are not kept for long: the garbage collector would copy each of them
      if (open.json.length >= joinedPieces) {
        open.blocks.push(open.json.join(""));
        open.json.length = 0;
      }
      return;
    }
    this.#closeText();
    this.#open = { tag, head, json: [head, json.slice(0, -1)], blocks: [] };
    this.#timer ??= setTimeout(() => this.#tick(), flushMs);
  }

  /** Writes what waits, and takes no more: another process may have the session. */
  close(): Promise<void> {
    const stored = this.flush();
    this.#state = "closed";
    return stored;
  }

  /** Throws when JSON cannot express it. */
  append(body: EntryBody): void {
    if (body.kind === "update") return this.update(body.update.sessionUpdate, JSON.stringify(body.update));
    if (this.#state === "closed") return;
    const { kind, ...rest } = body;
    const text = JSON.stringify(rest);
    this.#follow(body);
    this.#closeText();
    this.#add({ format: entryFormat, seq: 0, time: Date.now(), kind, text });
  }

  #follow(body: Exclude<EntryBody, { kind: "update" }>): void {
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
    const { chars } = this.#pending;
    const entries = this.#pending.entries.filter((waiting) => !isPrompt(waiting, messageId));
    this.#pending = chars > 0 ? batchOf(entries) : { entries, chars };
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
    for await (const stored of this.#store.entries(this.#sessionId)) {
      if (stored.seq >= end) return;
      yield parseEntry(stored);
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
      await this.#store.append(this.#sessionId, batch.entries);
      this.#nextSeq = seq;
      this.#isBehind = false;
    } catch (error) {
      // none of it was stored: all of it is tried again
      this.#pending = batchOf([...batch.entries, ...this.#pending.entries]);
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
    const { tag, json, blocks } = open;
    json.push('"}}');
    const last = json.join("");
    const text = blocks.length === 0 ? last : blocks.join("") + last;
    this.#push({ format: entryFormat, seq: 0, time: Date.now(), kind: "update", tag, text });
  }

  #push(waiting: Waiting): void {
    this.#pending.entries.push(waiting);
    if (this.#isBehind) this.#pending.chars += waiting.text.length;
  }
}

function batchOf(entries: Waiting[]): Batch {
  return { entries, chars: entries.reduce((sum, { text }) => sum + text.length, 0) };
}

function isPrompt({ kind, text }: Waiting, messageId: string): boolean {
  // as: written by append
  return kind === "prompt" && (JSON.parse(text) as { messageId: string }).messageId === messageId;
}
