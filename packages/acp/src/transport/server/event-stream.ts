// Writes one event stream. It outlives its readers: a reader that returns gets what it missed.

import { SentRing } from "../sent-ring.ts";

export interface EventStreamHost {
  /** The next event of this stream, of so many characters, may be forgotten when memory is short. */
  mayForget(stream: EventStream, chars: number): void;
  /** How many characters more wait for a reader that is slow. */
  waits(chars: number): void;
  /** Its reader has come or gone. */
  moved(): void;
}

/** Bytes that are given to a reader ahead of its reading. */
const aheadBytes = 64 * 1024;
const encoder = new TextEncoder();
type Reader = ReadableStreamDefaultController<Uint8Array>;

/** Whether some stream can have given this id. "0" is the place before the first event. */
export function isEventId(id: string): boolean {
  return /^(?:0|[\da-f]{8}-[1-9]\d{0,15})$/.test(id);
}

export class EventStream {
  readonly #host: EventStreamHost;
  /** Tells the ids of one stream from those of another. */
  readonly #tag = crypto.randomUUID().slice(0, 8);
  readonly #ring = new SentRing();
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
    const id = `${this.#tag}-${this.#ring.last + 1}`;
    // a line break would end the field
    const data = /[\r\n]/.test(text) ? text.split(/\r\n|\r|\n/).join("\ndata: ") : text;
    const event = `id: ${id}\ndata: ${data}\n\n`;
    this.#ring.push(event);
    if (this.#reader === undefined) return this.#settle(this.#ring.last);
    this.#wait(event.length);
    if (this.#isFlushing) return;
    // one chunk for what is sent in one go
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  /** The number in an event id; undefined for one that this stream did not give. */
  numberOf(id: string): number | undefined {
    if (id === "0") return 0;
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
    let chars = 0;
    for (let n = since + 1; n <= this.#ring.last; n++) chars += this.#ring.at(n)?.length ?? 0;
    this.#wait(chars);
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
    return this.#ring.forgetTo(this.#ring.forgotten + 1);
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
      let chunk = "";
      while (this.hasUnread && chunk.length < aheadBytes) {
        const event = this.#ring.at(this.#given + 1);
        // forgotten before it was given: a gap must not go unnoticed
        if (event === undefined) return this.cut("events were lost, because the reader is too slow");
        chunk += event;
        this.#given++;
      }
      this.#movedAt = performance.now();
      this.#settle(this.#given);
      this.#wait(-chunk.length);
      reader.enqueue(encoder.encode(chunk));
    }
  }

  #leave(reader: Reader | undefined): void {
    if (reader === undefined || this.#reader !== reader) return;
    this.#reader = undefined;
    this.#wait(-this.#waitingChars);
    this.#settle(this.#ring.last);
    this.#host.moved();
  }

  #wait(chars: number): void {
    this.#waitingChars += chars;
    if (chars !== 0) this.#host.waits(chars);
  }

  #settle(number: number): void {
    for (; this.#settled < number; this.#settled++)
      this.#host.mayForget(this, this.#ring.at(this.#settled + 1)?.length ?? 0);
  }
}
