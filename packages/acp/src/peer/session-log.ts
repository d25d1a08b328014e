// Writes a session's entries to its store. Streamed text is joined per message and written at most every 250
// ms, because a chunk is worth little and there are many; everything else is written as it comes, and what
// must be stored before it is answered is waited for.

import type { EntryBody } from "../model/entry.ts";
import type { SessionStore } from "../model/store.ts";
import type { Update } from "../model/update.ts";

const flushMs = 250;

interface OpenText {
  readonly sessionUpdate: "agent_message_chunk" | "agent_thought_chunk";
  readonly messageId: string;
  text: string;
}

export class SessionLog {
  readonly #store: SessionStore;
  readonly #sessionId: string;
  readonly #fail: (error: unknown) => void;
  #nextSeq: number;
  #open: OpenText | undefined;
  /** Numbered when they are written, so that what is taken back leaves no gap. */
  #pending: (EntryBody & { readonly time: number })[] = [];
  #inFlight = 0;
  #writing: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: SessionStore, sessionId: string, nextSeq: number, fail: (error: unknown) => void) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#nextSeq = nextSeq;
    this.#fail = fail;
  }

  update(update: Update): void {
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

  append(body: EntryBody): void {
    this.#closeText();
    this.#pending.push({ time: Date.now(), ...body });
    this.#timer ??= setTimeout(() => this.#tick(), flushMs);
  }

  /** Takes back the prompt of a message that could not be stored, and was therefore refused. */
  takeBack(messageId: string): void {
    this.#pending = this.#pending.filter((body) => body.kind !== "prompt" || body.messageId !== messageId);
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
    const bodies = this.#pending;
    if (bodies.length === 0) return;
    this.#pending = [];
    this.#inFlight = bodies.length;
    try {
      await this.#store.append(
        this.#sessionId,
        bodies.map((body, i) => ({ seq: this.#nextSeq + i, ...body })),
      );
      this.#nextSeq += bodies.length;
    } catch (error) {
      this.#pending = [...bodies, ...this.#pending];
      throw error;
    } finally {
      this.#inFlight = 0;
    }
  }

  #tick(): void {
    this.#timer = undefined;
    this.flush().catch(this.#fail);
  }

  #closeText(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { sessionUpdate, messageId, text } = open;
    const update: Update = { sessionUpdate, messageId, content: { type: "text", text } };
    this.#pending.push({ time: Date.now(), kind: "update", update });
  }
}
