// Writes one event stream. It outlives its readers: a reader that returns gets what it missed.

import { EventRing } from "./event-ring.ts";

export interface EventStreamHost {
  /** The next events of this stream, so many and of so many characters, may be forgotten when memory is short. */
  mayForget(stream: EventStream, events: number, chars: number): void;
  /** How many characters more wait for a reader that is slow. */
  waits(chars: number): void;
  /** Its reader has come or gone. */
  moved(): void;
}

/** Bytes that are given to a reader ahead of its reading. */
const aheadBytes = 64 * 1024;
const encoder = new TextEncoder();
type Reader = ReadableStreamDefaultController<Uint8Array>;

/** The place before the first event. */
export const nothingRead = "0";

/** Whether some stream can have given this id. */
export function isEventId(id: string): boolean {
  return /^(?:0|[\da-f]{8}-[1-9]\d{0,15})$/.test(id);
}

export class EventStream {
  readonly #host: EventStreamHost;
  /** Tells the ids of one stream from those of another. */
  readonly #tag = crypto.randomUUID().slice(0, 8);
  readonly #ring = new EventRing(`id: ${this.#tag}-`);
  #reader: Reader | undefined;
  /** The number of the last event that was given to the reader. */
  #given = 0;
  /** Events up to this number may be forgotten. */
  #settled = 0;
  #waitingChars = 0;
  #isFlushing = false;
  #isGiving = false;
  #isEnding = false;
  /** When the reader last took something, or had everything. */
  #movedAt = 0;

  constructor(host: EventStreamHost) {
    this.#host = host;
  }

  get isRead(): boolean {
    return this.#reader !== undefined;
  }

  /** Whether it has events that no reader was given. */
  get hasUnread(): boolean {
    return this.#given < this.#ring.last;
  }

  get isUnused(): boolean {
    return this.#ring.last === 0 && !this.isRead;
  }

  send(text: string): void {
    // a line break would end the field
    const data = !/[\r\n]/.test(text) ? text : text.split(/\r\n|\r|\n/).join("\ndata: ");
    this.#ring.push(data);
    if (this.#reader === undefined) return this.#settle(1, data.length);
    this.#wait(data.length);
    if (this.#isFlushing) return;
    // one chunk for what is sent in one go
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  /** The number in an event id; undefined for one that this stream did not give. */
  numberOf(id: string): number | undefined {
    if (id === nothingRead) return 0;
    const [tag, number = ""] = id.split("-");
    return tag === this.#tag ? Number(number) : undefined;
  }

  /** Whether there is nothing behind this event, or behind what was given already. */
  isAtEnd(since: number = this.#given): boolean {
    return since === this.#ring.last;
  }

  /** Reads on behind this event, or behind what was given already. Undefined when some of it is forgotten. */
  open(since: number = this.#given): ReadableStream<Uint8Array> | undefined {
    if (!this.#ring.hasAllAfter(since)) return undefined;
    const before = this.#reader;
    if (before !== undefined) this.#leave(before);
    try {
      before?.close();
    } catch {
      // it failed meanwhile
    }
    let reader: Reader | undefined;
    const strategy = { highWaterMark: aheadBytes, size: (chunk?: Uint8Array) => chunk?.byteLength ?? 0 };
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = controller;
        },
        pull: () => this.#flush(),
        cancel: () => this.#leave(reader),
      },
      strategy,
    );
    this.#reader = reader;
    this.#isEnding = false;
    this.#given = since;
    this.#movedAt = performance.now();
    this.#wait(this.#ring.charsAfter(since));
    this.#host.moved();
    // some hosts send the head together with the first bytes
    reader?.enqueue(encoder.encode(": open\n\n"));
    this.#flush();
    return body;
  }

  /** Keeps the stream alive, and leaves a reader that takes nothing. */
  beat(stallMs: number): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    if ((reader.desiredSize ?? 0) > 0) return reader.enqueue(encoder.encode(":\n\n"));
    if (performance.now() - this.#movedAt > stallMs) this.cut("the reader is too slow");
  }

  /** Ends it behind the last event, until it is opened again. */
  end(): void {
    this.#isEnding = true;
    this.#flush();
  }

  cut(why: string): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    this.#leave(reader);
    reader.error(new Error(why));
  }

  /** Forgets the oldest event. */
  forget(): number {
    return this.#ring.forget();
  }

  #flush(): void {
    this.#isFlushing = false;
    const reader = this.#reader;
    // a reader that waits asks for more as soon as it is given something
    if (reader === undefined || this.#isGiving) return;
    this.#isGiving = true;
    this.#give(reader);
    this.#isGiving = false;
    if (this.#reader !== reader) return;
    if (!this.hasUnread) this.#movedAt = performance.now();
    if (!this.#isEnding || this.hasUnread) return;
    this.#leave(reader);
    reader.close();
  }

  #give(reader: Reader): void {
    while (this.#reader === reader && this.hasUnread && (reader.desiredSize ?? 0) > 0) {
      const given = this.#ring.after(this.#given, aheadBytes);
      // forgotten before it was given: a gap must not go unnoticed
      if (given === undefined) return this.cut("events were lost, because the reader is too slow");
      const { bytes, last, chars } = given;
      this.#movedAt = performance.now();
      // a reader that comes back is given some of them again
      const unsettled = last - Math.max(this.#settled, this.#given);
      if (unsettled === last - this.#given) this.#settle(unsettled, chars);
      else if (unsettled > 0)
        this.#settle(unsettled, this.#ring.charsAfter(this.#settled) - this.#ring.charsAfter(last));
      this.#given = last;
      this.#wait(-chars);
      reader.enqueue(bytes);
    }
  }

  #leave(reader: Reader | undefined): void {
    if (reader === undefined || this.#reader !== reader) return;
    this.#reader = undefined;
    this.#wait(-this.#waitingChars);
    this.#settle(this.#ring.last - this.#settled, this.#ring.charsAfter(this.#settled));
    this.#host.moved();
  }

  #wait(chars: number): void {
    this.#waitingChars += chars;
    if (chars !== 0) this.#host.waits(chars);
  }

  /** The next ones after those that are settled. */
  #settle(events: number, chars: number): void {
    if (events === 0) return;
    this.#settled += events;
    this.#host.mayForget(this, events, chars);
  }
}
