// Writes the entries of one session to the store, without ever delaying the session.

import { type ContentBlock, type Entry, type SessionUpdate, textOf } from "@parley/acp";
import { charsOf, joinedText } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";
import { type StreamRedactor, streamRedactor } from "@parley/acp/redact";
import { type EntryBody, type SessionStore, serializeEntry } from "@parley/acp/store";

export interface RecorderOptions {
  readonly store: SessionStore;
  readonly id: string;
  /** How many entries are stored already. */
  readonly lastSeq: number;
  readonly title: string | undefined;
  /** Secrets that are never stored. */
  readonly secrets: Iterable<string>;
  /** Called once, when something could not be stored. */
  readonly failed: (error: unknown) => void;
}

/** Chunks are joined for so long, or up to so many characters. */
const flushMs = 250;
const flushChars = 64 * 1024;
/** Base64 characters that are kept of each terminal. */
const terminalChars = 1024 * 1024;
const titleLength = 80;

/** An entry on its way to the store; the text of a chunk may still grow. */
interface Waiting {
  readonly time: number;
  body: EntryBody;
}

/** Gets every entry of a session; `close` waits until all are stored. */
export class SessionRecorder {
  /** The id of the session in the history. */
  readonly id: string;
  readonly #options: RecorderOptions;
  readonly #redactor: StreamRedactor<Entry>;
  #seq: number;
  #title: string | undefined;
  #waiting: Waiting[] = [];
  #chars = 0;
  #timer: NodeJS.Timeout | undefined;
  #stored: Promise<void> = Promise.resolve();
  #hasFailed = false;
  readonly #terminals = new Map<string, number>();

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#redactor = streamRedactor(options.secrets);
    this.id = options.id;
    this.#seq = options.lastSeq;
    this.#title = options.title;
  }

  entry(entry: Entry): void {
    for (const clean of this.#redactor.next(entry)) this.#take(clean);
  }

  #take(entry: Entry): void {
    if (this.#hasFailed) return;
    if (entry.kind === "update") {
      if (this.#isLeftOut(entry.update)) return;
      this.#noteTitle(entry.update);
      if (this.#joins(entry.update)) return this.#schedule();
      this.#push(entry);
      return this.#schedule();
    }
    if (entry.kind === "prompt") this.#titleFrom(entry.prompt);
    this.#push(entry);
    // what a user did is stored at once, and so is the end of a turn
    this.#flush();
  }

  /** The agent has another id for the session now. */
  async renamed(agentSessionId: string): Promise<void> {
    try {
      const { store } = this.#options;
      const known = await store.get(this.id);
      await store.patch(this.id, { data: { ...(known?.data as object), agentSessionId } }); // as: written by recordFrom
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Resolves when everything so far is stored. */
  async stored(): Promise<void> {
    this.#flush();
    await this.#stored;
  }

  async close(): Promise<void> {
    for (const held of this.#redactor.end()) this.#take(held);
    this.#flush();
    await this.#stored;
    if (this.#hasFailed) return;
    await this.#options.store.release(this.id).catch((error: unknown) => this.#fail(error));
  }

  #push({ format: _format, seq: _, time, ...body }: Entry): void {
    this.#waiting.push({ time, body });
  }

  /** Updates that are repeated whenever a session is opened are not stored. */
  #isLeftOut(update: SessionUpdate): boolean {
    switch (update.sessionUpdate) {
      case "available_commands_update":
      case "config_option_update":
      case "state_update":
        return true;
      case "terminal_output_chunk": {
        const chars = (this.#terminals.get(update.terminalId) ?? 0) + update.data.length;
        if (chars > terminalChars) return true;
        this.#terminals.set(update.terminalId, chars);
        this.#chars += update.data.length;
        return false;
      }
      default:
        return false;
    }
  }

  /** Joins text with the entry before, and patches of one tool call. */
  #joins(update: SessionUpdate): boolean {
    const last = this.#waiting.at(-1);
    if (last?.body.kind !== "update") return false;
    const before = last.body.update;
    if (update.sessionUpdate === "tool_call_update" && before.sessionUpdate === "tool_call_update") {
      if (before.toolCallId !== update.toolCallId) return false;
      last.body = { kind: "update", update: { ...before, ...update } };
      return true;
    }
    const joined = joinedText(before, update);
    if (joined === undefined) return false;
    this.#chars += charsOf(update);
    last.body = { kind: "update", update: joined };
    return true;
  }

  #noteTitle(update: SessionUpdate): void {
    if (update.sessionUpdate !== "session_info_update") return;
    if (typeof update.title === "string" && update.title.trim() !== "") this.#title = update.title.trim();
  }

  #titleFrom(prompt: readonly ContentBlock[]): void {
    if (this.#title !== undefined) return;
    const text = prompt.map((block) => textOf(block)).join(" ");
    const [line = ""] = text.trim().split("\n");
    if (line !== "") this.#title = line.length > titleLength ? `${line.slice(0, titleLength - 1)}…` : line;
  }

  #schedule(): void {
    if (this.#chars >= flushChars || this.#waiting.length >= 1_000) return this.#flush();
    this.#timer ??= setTimeout(() => this.#flush(), flushMs).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#chars = 0;
    const waiting = this.#waiting;
    if (waiting.length === 0 || this.#hasFailed) return;
    this.#waiting = [];
    const entries = waiting.map(({ time, body }) =>
      serializeEntry({ format: 1, seq: ++this.#seq, time, ...body }),
    );
    const { store } = this.#options;
    const patch = optional({ title: this.#title });
    // in order: the store takes one call after the other
    this.#stored = Promise.all([
      this.#stored,
      store.append(this.id, entries),
      store.patch(this.id, { updatedAt: Date.now(), ...patch }),
    ]).then(
      () => undefined,
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#waiting = [];
    this.#options.failed(error);
  }
}
