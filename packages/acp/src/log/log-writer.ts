// Writes the entries of a session to its store. Streamed text is joined per message, and one write runs at a time.

import { RequestError } from "../jsonrpc/errors.ts";
import type { Entry, EntryBody } from "../model/entry.ts";
import { entryFormat, parseEntry } from "../model/entry-format.ts";
import { emptyHead, foldHead, type HeadState, isHeadTag } from "../model/head.ts";
import type { Claim, SessionHead, SessionPatch, SessionStore, StoredEntry } from "../model/store.ts";
import type { SessionUpdate } from "../model/update.ts";
import {
  type Batch,
  charsOf,
  type GivenBatch,
  isEmpty,
  isMessage,
  newBatch,
  type Waiting,
} from "./entry-batch.ts";
import { JoinedText, joinedUpdates } from "./joined-text.ts";
import { type ChunkTag, isPlainText, plainTextHead } from "./plain-text.ts";
import { isConflict } from "./store-rules.ts";

const flushMs = 250;
/** A write that failed is tried again after this time where nothing is shown before it is stored. */
const retryMs = 1_000;
/** As many are written at once: the garbage collector copies what is kept for long. */
const flushEntries = 512;

/** How many characters of entries may wait for a store that is slow or fails. */
export const defaultMaxUnstored = 16 * 1024 * 1024;

/**
 * The calls that a writer makes.
 *
 * @inline
 */
type WriterStore = Pick<SessionStore, "append" | "get" | "patch" | "read" | "release">;

/** How a session is written. */
export interface LogWriterOptions {
  /** The end of the log, as `currentHead` returns it: numbers and state go on from here. */
  readonly head: Pick<SessionHead, "lastSeq" | "state">;
  /**
   * "behind": entries are stored within 250 ms; the caller has shown them. "ahead": entries are stored at once and then
   * given to `show`. What arrives during one write is the next one. Default "behind".
   */
  readonly mode?: "behind" | "ahead" | undefined;
  /** Called with entries once they are stored, in order. */
  readonly show?: ((entries: readonly StoredEntry[]) => void) | undefined;
  /** How many characters may wait for the store. Default 16 Mi. */
  readonly maxUnstored?: number | undefined;
  /** A write failed that no caller awaits, or the session was claimed by somebody else or deleted. The latter two are reported once. */
  readonly fail: (error: unknown) => void;
  /** `checkRoom` refuses from now on, until the store has caught up. Called once each time. */
  readonly full?: (() => void) | undefined;
}

/**
 * Writes the entries of a session that its caller has claimed. It gives them their numbers, joins streamed text, and keeps the
 * state of the session's head. A write that fails is tried again with the next one.
 *
 * @example
 * import { currentHead, type EntryBody, LogWriter, type SessionStore } from "@parley/acp/store";
 *
 * export async function record(store: SessionStore, sessionId: string, bodies: AsyncIterable<EntryBody>): Promise<void> {
 *   const claim = await store.claim(sessionId);
 *   const head = await currentHead(store, sessionId);
 *   const writer = new LogWriter(store, claim, { head, fail: (error) => console.error(error) });
 *   for await (const body of bodies) writer.append(body);
 *   await writer.close();
 * }
 */
export class LogWriter {
  readonly #store: WriterStore;
  readonly #claim: Claim;
  readonly #options: LogWriterOptions;
  /** The last entry that the store has taken. */
  #storedSeq: number;
  /** After the entries that wait. Its `seq` is set when it is stored. */
  #state: HeadState;
  /** The message that may grow. */
  #open: JoinedText | undefined;
  /** The last update that was appended, while it can still be joined with the next. */
  #lastUpdate: { readonly entry: Waiting; readonly update: SessionUpdate } | undefined;
  #mode: "open" | "full" | "closed" = "open";
  /** Why nothing can be stored any more. */
  #fenced: RequestError | undefined;
  #pending: Batch = newBatch();
  #given: GivenBatch | undefined;
  /** Something is stored that may not survive a power cut. */
  #isUnsynced = false;
  #writing: Promise<void> = Promise.resolve();
  /** The last of `#writing` has not begun, and will take along what comes until then. */
  #isWriteDue = false;
  #released: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param claim The claim of the session, which `close` releases. */
  constructor(store: WriterStore, claim: Claim, options: LogWriterOptions) {
    this.#store = store;
    this.#claim = claim;
    this.#options = options;
    this.#storedSeq = options.head.lastSeq;
    this.#state = options.head.state ?? emptyHead;
  }

  /** The id of the session. */
  get sessionId(): string {
    return this.#claim.sessionId;
  }

  /** The number of the last entry, stored or not. A message that still grows is not counted. */
  get lastSeq(): number {
    return this.#storedSeq + (this.#given?.entries.length ?? 0) + this.#pending.entries.length;
  }

  /** What the session is doing, after all entries so far. */
  get state(): HeadState {
    return { ...this.#state, seq: this.lastSeq };
  }

  /**
   * Throws when more waits for the store than may: what cannot be stored must not be sent.
   *
   * @throws {RequestError} "unavailable" when too much waits, "conflict" when the session was claimed by somebody else,
   *   "session_not_found" when it was deleted.
   */
  checkRoom(): void {
    const unstored = this.#pending.chars + (this.#given?.chars ?? 0);
    // nearly every time
    if (unstored === 0 && this.#mode === "open") return;
    if (this.#fenced !== undefined) throw this.#fenced;
    const { maxUnstored = defaultMaxUnstored, full } = this.#options;
    const isFull = unstored > maxUnstored;
    if (isFull && this.#mode === "open") full?.();
    if (this.#mode !== "closed") this.#mode = isFull ? "full" : "open";
    if (!isFull) return;
    const message = `more than ${maxUnstored} characters wait for the session's store: try again later`;
    throw new RequestError("unavailable", message, { data: { reason: "unavailable" } });
  }

  /**
   * Adds an entry. The pieces of a message become one entry, and so do updates of a tool call that follow each other. Has no effect after `close`.
   *
   * @throws {TypeError} When JSON cannot express it.
   */
  append(body: EntryBody): void {
    if (body.kind === "update") {
      const { update } = body;
      if (!isPlainText(update)) return this.#joinOrAdd(update);
      return this.text(update.sessionUpdate, plainTextHead(update), JSON.stringify(update.content.text));
    }
    if (this.#mode === "closed") return;
    const { kind, ...rest } = body;
    const text = JSON.stringify(rest);
    this.#add(kind, text);
    this.#state = foldHead(this.#state, body, this.lastSeq);
  }

  #joinOrAdd(update: SessionUpdate): void {
    const last = this.#lastUpdate;
    const joined = last && this.#open === undefined ? joinedUpdates(last.update, update) : undefined;
    if (last !== undefined && joined !== undefined && this.#pending.entries.at(-1) === last.entry)
      last.entry.text = JSON.stringify(joined);
    else this.update(update.sessionUpdate, JSON.stringify(update), update);
    const entry = this.#pending.entries.at(-1);
    this.#lastUpdate = entry && { entry, update: joined ?? update };
  }

  /** As `append`, for an update whose JSON the caller has made already. */
  update(tag: string, text: string, update: SessionUpdate): void {
    if (this.#mode === "closed") return;
    this.#add("update", text, tag);
    if (isHeadTag(tag)) this.#state = foldHead(this.#state, { kind: "update", update }, this.lastSeq);
  }

  /** As `append`, for plain text as a JSON string. `head` is the JSON of the update up to the text. */
  text(tag: ChunkTag, head: string, json: string): void {
    if (this.#mode === "closed") return;
    if (this.#open?.head === head) return this.#open.add(json);
    this.#closeText();
    this.#open = new JoinedText(tag, head, json);
    this.#soon();
  }

  /** Removes the prompt of a message that could not be stored, and was therefore refused. */
  takeBack(messageId: string): void {
    const { entries } = this.#pending;
    const at = entries.findIndex((each) => isMessage(each, messageId));
    if (at < 0) {
      const given = this.#given;
      // a write that was tried again may have stored it already
      if (!given?.entries.some((each) => isMessage(each, messageId))) return this.#cancelled(messageId);
      return void given.takenBack.push(messageId);
    }
    const seq = this.lastSeq - entries.length + 1 + at;
    const [taken] = entries.splice(at, 1);
    this.#pending.chars = Math.max(0, this.#pending.chars - (taken?.text.length ?? 0));
    const moved = <Open extends { readonly seq: number }>(open: Open): Open =>
      open.seq > seq ? { ...open, seq: open.seq - 1 } : open;
    const prompts = this.#state.prompts.filter((each) => each.messageId !== messageId).map(moved);
    this.#state = { ...this.#state, prompts, questions: this.#state.questions.map(moved) };
  }

  /** Changes the session's record, and notes when it was last used. */
  patch(patch: SessionPatch): void {
    this.#store.patch(this.sessionId, { updatedAt: Date.now(), ...patch }).catch(this.#options.fail);
  }

  /** Everything that has begun has ended, unless a prompt or a question is open: reading after a crash begins here. */
  settle(): void {
    const { prompts, questions } = this.#state;
    this.#closeText();
    if (prompts.length === 0 && questions.length === 0)
      this.#state = { ...this.#state, settledSeq: this.lastSeq };
  }

  /** Ends the message that grows. Returns the number that the next entry will get. */
  mark(): number {
    this.#closeText();
    return this.lastSeq + 1;
  }

  /** Reads every entry so far, also those that are not stored yet. */
  history(): AsyncIterable<Entry> {
    return this.#entriesTo(this.mark() - 1);
  }

  async *#entriesTo(to: number): AsyncGenerator<Entry> {
    await this.flush();
    for await (const page of this.#store.read(this.sessionId, { to }))
      for (const each of page) yield parseEntry(each);
  }

  /**
   * Resolves when everything so far is stored; with `isSynced`, when it also survives a power cut. Rejects when it could not be
   * stored.
   */
  flush({ isSynced = false }: { readonly isSynced?: boolean } = {}): Promise<void> {
    if (this.#fenced !== undefined) return Promise.reject(this.#fenced);
    this.#closeText();
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    const { entries } = this.#pending;
    const given = this.#given;
    if (isSynced && (entries.length > 0 || (given === undefined ? this.#isUnsynced : !given.isSynced)))
      this.#pending.isSynced = true;
    return this.#write();
  }

  /** Writes what waits, takes no more, and releases the claim. */
  async close(): Promise<void> {
    const stored = this.flush();
    this.#mode = "closed";
    try {
      await stored;
    } finally {
      await this.release();
    }
  }

  /** Releases the claim, whatever still waits. */
  release(): Promise<void> {
    this.#mode = "closed";
    this.#released ??= this.#store.release(this.#claim);
    return this.#released;
  }

  #add(kind: string, text: string, tag?: string): void {
    this.#closeText();
    this.#push(kind, text, tag);
    // the timer stays: a new one for each write costs more than one tick for nothing
    const isDue =
      this.#pending.entries.length >= flushEntries && this.#given === undefined && !this.#isWriteDue;
    if (isDue) this.#writeUnasked();
    else this.#soon();
  }

  /** Everything that comes within one turn of the event loop, or while a write runs, is written together. */
  #soon(): void {
    if (this.#options.mode === "ahead") this.#writeUnasked();
    else this.#timer ??= setTimeout(() => this.#tick(), flushMs);
  }

  #tick(): void {
    this.#timer = undefined;
    this.#closeText();
    this.#writeUnasked();
  }

  #writeUnasked(): void {
    this.#write().catch((error: unknown) => {
      if (this.#fenced !== undefined) return;
      this.#options.fail(error);
      if (this.#options.mode === "ahead") this.#timer ??= setTimeout(() => this.#tick(), retryMs);
    });
  }

  #write(): Promise<void> {
    const isIdle = isEmpty(this.#pending) && this.#open === undefined && this.#given?.isInFlight !== false;
    if (this.#isWriteDue || isIdle) return this.#writing;
    this.#isWriteDue = true;
    // one write at a time; a failed one fails those who waited for it, and is tried again by the next
    const before = this.#writing.catch(() => undefined);
    this.#writing = before.then(() => this.#writePending());
    return this.#writing;
  }

  async #writePending(): Promise<void> {
    if (this.#fenced !== undefined) throw this.#fenced;
    this.#isWriteDue = false;
    if (this.#options.mode === "ahead") this.#closeText();
    if (this.#given !== undefined) await this.#giveAgain(this.#given);
    await this.#givePending();
  }

  async #givePending(): Promise<void> {
    const batch = this.#pending;
    if (isEmpty(batch)) return;
    this.#pending = newBatch();
    let seq = this.#storedSeq;
    for (const each of batch.entries) each.seq = ++seq;
    const given: GivenBatch = { ...batch, state: { ...this.#state, seq }, isInFlight: true, takenBack: [] };
    await this.#give(given);
    // their ends wait now
    if (given.takenBack.length > 0) await this.#givePending();
  }

  async #give(batch: GivenBatch): Promise<void> {
    const { entries, state, isSynced } = batch;
    this.#given = batch;
    batch.isInFlight = true;
    try {
      await this.#store.append(this.#claim, this.#storedSeq, entries, { state, isSynced });
    } catch (error) {
      batch.isInFlight = false;
      batch.chars = charsOf(batch);
      this.#pending.chars = charsOf(this.#pending);
      if (isConflict(error)) this.#fence(error);
      throw error;
    }
    this.#taken(batch);
  }

  #taken({ entries, isSynced, takenBack }: GivenBatch): void {
    this.#given = undefined;
    this.#storedSeq += entries.length;
    this.#isUnsynced = !isSynced;
    if (entries.length > 0) this.#options.show?.(entries);
    for (const messageId of takenBack) this.#cancelled(messageId);
  }

  /** Ends a message that was refused although it is stored. */
  #cancelled(messageId: string): void {
    if (this.#fenced !== undefined || this.#released !== undefined) return;
    const ended = { messageId, result: { stopReason: "cancelled" } } as const;
    this.#add("result", JSON.stringify(ended));
    this.#state = foldHead(this.#state, { kind: "result", ...ended }, this.lastSeq);
  }

  async #giveAgain(batch: GivenBatch): Promise<void> {
    const { entries, takenBack } = batch;
    if (takenBack.length === 0) return this.#give(batch);
    // the store may have taken it, and only its answer was lost
    const head = (await this.#store.get(this.sessionId))?.head;
    if (head?.lastSeq === this.#storedSeq + entries.length) return this.#taken(batch);
    this.#given = undefined;
    const { entries: later, chars } = this.#pending;
    const isSynced = this.#pending.isSynced || batch.isSynced;
    this.#pending = { entries: [...entries, ...later], chars: chars + batch.chars, isSynced };
    for (const messageId of takenBack) this.takeBack(messageId);
  }

  /** Somebody else has the session. */
  #fence(error: RequestError): void {
    this.#fenced = error;
    this.#mode = "closed";
    this.#open = undefined;
    this.#pending = newBatch();
    this.#given = undefined;
    this.#options.fail(error);
  }

  #closeText(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#push("update", open.end(), open.tag);
  }

  #push(kind: string, text: string, tag?: string): void {
    const time = Date.now();
    // two literals: a spread costs more than the rest of this
    this.#pending.entries.push(
      tag === undefined
        ? { format: entryFormat, seq: 0, time, kind, text }
        : { format: entryFormat, seq: 0, time, kind, tag, text },
    );
    if (this.#given !== undefined) this.#pending.chars += text.length;
  }
}
