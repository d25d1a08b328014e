// Wraps a transport that several readers read one after the other. Nothing is lost or reordered between them.

import { type DialectTransport, dialectOf } from "../../edition/dialect.ts";
import type { EndReason, Fault, Sink, Transport } from "../../jsonrpc/transport.ts";

/** How much may wait for the next reader. */
const maxHeldChars = 32 * 1024 * 1024;
/** The memory that a message takes beside its text, as characters. */
const charsPerEvent = 256;

type Event = (sink: Sink) => void;

export class ReadInTurns {
  /** Resolves when the peer has closed, also while there is no reader. */
  readonly ended: Promise<EndReason>;
  readonly #inner: Transport;
  readonly #gone = Promise.withResolvers<EndReason>();
  #reader: Sink | undefined;
  #answersOnly = false;
  /** Answers that came before their reader was attached: in one process a request may be answered at once. */
  readonly #early: { readonly value: unknown; readonly text: string }[] = [];
  /** The id of the request whose answer ends the handshake. */
  #askedId: unknown;
  /** The first is at `#next`: a queue that is cut at its head costs its length. */
  #held: Event[] = [];
  #next = 0;
  #heldChars = 0;
  #overflowed = false;
  #ended: EndReason | undefined;

  constructor(inner: Transport) {
    this.#inner = inner;
    this.ended = this.#gone.promise;
    inner.start({
      message: (value, text) => this.#message(value, text),
      unread: (lines, from, longest) =>
        this.#answersOnly ? from : (this.#reader?.unread?.(lines, from, longest) ?? from),
      idle: () => this.#reader?.idle(),
      reject: (fault) => this.#reject(fault),
      drain: () => this.#reader?.drain(),
      end: (reason) => this.#end(reason),
    });
  }

  /** Attaches a reader. It gets what has been held first. */
  read(sink: Sink): void {
    this.#answersOnly = false;
    this.#attach(sink);
  }

  /** Detaches the reader: input waits for the next one. */
  hold(): void {
    this.#reader = undefined;
  }

  /** Puts a message back, before everything that is held. */
  unread(value: unknown, text: string): void {
    this.#held = [(sink) => sink.message(value, text), ...this.#held.slice(this.#next)];
    this.#next = 0;
  }

  /** A transport for a connection that becomes the reader. */
  transport(): Transport {
    return this.#facade((sink) => this.read(sink));
  }

  /** A transport for the handshake: it gets answers only, until its last request succeeds. All else waits. */
  handshake(): Transport {
    this.#answersOnly = true;
    const facade = this.#facade((sink) => {
      this.#reader = sink;
      for (const { value, text } of this.#early.splice(0)) this.#message(value, text);
      if (this.#ended !== undefined) sink.end(this.#ended);
    });
    const send: Transport["send"] = (message, text) => {
      if ("method" in message && "id" in message) this.#askedId = message.id;
      return this.send(message, text);
    };
    return { ...facade, send };
  }

  send(message: object, text?: string): boolean {
    return this.#inner.send(message, text);
  }

  endOutput(): void {
    this.#inner.endOutput?.();
  }

  pause(): void {
    this.#inner.pause();
  }

  resume(): void {
    this.#inner.resume();
  }

  close(reason?: Error): Promise<void> {
    this.#reader = undefined;
    this.#dropHeld();
    return this.#inner.close(reason);
  }

  #facade(start: (sink: Sink) => void): DialectTransport {
    const inner = this.#inner;
    return {
      get dialect() {
        return dialectOf(inner);
      },
      // a sink is not called before `start` has returned
      start: (sink) => queueMicrotask(() => start(sink)),
      send: (message, text) => this.send(message, text),
      ...(inner.sendLines && { sendLines: (lines) => inner.sendLines?.(lines) ?? true }),
      pause: () => this.pause(),
      resume: () => this.resume(),
      close: (reason) => this.close(reason),
    };
  }

  #attach(sink: Sink): void {
    this.#reader = sink;
    // a reader may hold again at any message
    while (this.#next < this.#held.length && this.#reader === sink) this.#held[this.#next++]?.(sink);
    if (this.#next >= this.#held.length) this.#dropHeld();
    if (this.#reader === sink) sink.idle();
  }

  #message(value: unknown, text: string): void {
    if (!this.#answersOnly) return this.#deliver((sink) => sink.message(value, text), text.length);
    // the answer to initialize may come in a batch, with others
    if (Array.isArray(value) && value.some(isAnswer)) {
      for (const each of value) this.#message(each, JSON.stringify(each) ?? "");
      return;
    }
    if (!isAnswer(value)) return this.#hold((sink) => sink.message(value, text), text.length);
    const reader = this.#reader;
    if (reader === undefined) {
      this.#early.push({ value, text });
      return;
    }
    if ("result" in value && "id" in value && value.id === this.#askedId) {
      this.#answersOnly = false;
      this.#reader = undefined;
    }
    reader.message(value, text);
  }

  #reject(fault: Fault): void {
    // other output before the handshake is ignored
    if (!this.#answersOnly) this.#deliver((sink) => sink.reject(fault), fault.head.length);
  }

  #end(reason: EndReason): void {
    this.#ended = reason;
    this.#gone.resolve(reason);
    if (this.#reader !== undefined) this.#reader.end(reason);
    else this.#held.push((sink) => sink.end(reason));
  }

  #dropHeld(): void {
    this.#held = [];
    this.#next = 0;
    this.#heldChars = 0;
  }

  #deliver(event: Event, chars: number): void {
    if (this.#reader !== undefined) event(this.#reader);
    else this.#hold(event, chars);
  }

  #hold(event: Event, chars: number): void {
    if (this.#overflowed) return;
    this.#heldChars += chars + charsPerEvent;
    if (this.#heldChars <= maxHeldChars) {
      this.#held.push(event);
      return;
    }
    const reason: EndReason = {
      kind: "overflow",
      message: `more than ${maxHeldChars} characters are waiting`,
    };
    this.#dropHeld();
    this.#overflowed = true;
    this.#end(reason);
    // the next reader gets the end, so an error of closing adds nothing
    this.#inner.close(new Error(reason.message)).catch(() => undefined);
  }
}

function isAnswer(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    !("method" in value) &&
    ("result" in value || "error" in value)
  );
}
