// A transport that is read by one after the other: whoever shakes hands, then whoever speaks. Nothing is lost
// or reordered between them.

import type { EndReason, Fault, LineAccess, Sink, Transport } from "../../jsonrpc/transport.ts";

/** What may wait for the next reader. More means that the peer talks without listening. */
const maxHeldChars = 32 * 1024 * 1024;

type Event = (sink: Sink) => void;

export class Splice {
  readonly #inner: Transport;
  #reader: Sink | undefined;
  #answersOnly = false;
  #held: Event[] = [];
  #heldChars = 0;
  #ended: EndReason | undefined;

  constructor(inner: Transport) {
    this.#inner = inner;
    inner.start({
      message: (value, text) => this.#message(value, text),
      idle: () => this.#reader?.idle(),
      reject: (fault) => this.#reject(fault),
      drain: () => this.#reader?.drain(),
      end: (reason) => this.#end(reason),
    });
  }

  /** For a reader of its own: what has been held comes first. */
  read(sink: Sink): void {
    this.#answersOnly = false;
    this.#attach(sink);
  }

  /** From here on input waits for the next reader. */
  hold(): void {
    this.#reader = undefined;
  }

  /** Puts a message back, before everything that is held. */
  unread(value: unknown, text: string): void {
    this.#held.unshift((sink) => sink.message(value, text));
  }

  /** For a connection. */
  transport(): Transport {
    return this.#facade((sink) => this.read(sink));
  }

  /** For a connection that shakes hands: it sees answers, up to the first good one. All else waits. */
  handshake(): Transport {
    return this.#facade((sink) => {
      this.#answersOnly = true;
      this.#reader = sink;
      if (this.#ended !== undefined) sink.end(this.#ended);
    });
  }

  lines(): LineAccess | undefined {
    return this.#inner.lines?.();
  }

  send(message: object, text?: string): boolean {
    return this.#inner.send(message, text);
  }

  pause(): void {
    this.#inner.pause();
  }

  resume(): void {
    this.#inner.resume();
  }

  close(reason?: Error): Promise<void> {
    this.#reader = undefined;
    this.#held = [];
    return this.#inner.close(reason);
  }

  #facade(start: (sink: Sink) => void): Transport {
    return {
      // a sink is not called before `start` has returned
      start: (sink) => queueMicrotask(() => start(sink)),
      send: (message, text) => this.send(message, text),
      pause: () => this.pause(),
      resume: () => this.resume(),
      close: (reason) => this.close(reason),
    };
  }

  #attach(sink: Sink): void {
    this.#reader = sink;
    // a reader may hold again at any message
    while (this.#held.length > 0 && this.#reader === sink) this.#held.shift()?.(sink);
    if (this.#held.length === 0) this.#heldChars = 0;
    if (this.#reader === sink) sink.idle();
  }

  #message(value: unknown, text: string): void {
    if (!this.#answersOnly) return this.#deliver((sink) => sink.message(value, text), text.length);
    if (!isAnswer(value)) return this.#hold((sink) => sink.message(value, text), text.length);
    const reader = this.#reader;
    if ("result" in value) {
      this.#answersOnly = false;
      this.#reader = undefined;
    }
    reader?.message(value, text);
  }

  #reject(fault: Fault): void {
    // what a program prints before it speaks is nobody's message
    if (!this.#answersOnly) this.#deliver((sink) => sink.reject(fault), fault.head.length);
  }

  #end(reason: EndReason): void {
    this.#ended = reason;
    if (this.#reader !== undefined) this.#reader.end(reason);
    else this.#held.push((sink) => sink.end(reason));
  }

  #deliver(event: Event, chars: number): void {
    if (this.#reader !== undefined) event(this.#reader);
    else this.#hold(event, chars);
  }

  #hold(event: Event, chars: number): void {
    this.#heldChars += chars;
    if (this.#heldChars <= maxHeldChars) {
      this.#held.push(event);
      return;
    }
    const reason: EndReason = {
      kind: "overflow",
      message: `more than ${maxHeldChars} characters are waiting`,
    };
    this.#held = [];
    this.#end(reason);
    // the next reader is told; the inner transport has nothing to add
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
