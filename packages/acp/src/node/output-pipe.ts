// The writing half of a channel over a Node stream: order, back-pressure, flush, and write errors
// as one callback instead of an 'error' event that nobody handles.

import { Buffer } from "node:buffer";
import type { Writable } from "node:stream";

export interface OutputPipeEvents {
  /** After `write` returned false: there is room again. */
  drained(): void;
  /** The other side has gone or the descriptor is broken. Called at most once. */
  failed(error: NodeJS.ErrnoException): void;
}

export class OutputPipe {
  readonly #stream: Writable;
  readonly #write: Writable["write"];
  readonly #events: OutputPipeEvents;
  #waiting = false;
  #broken = false;

  constructor(stream: Writable, events: OutputPipeEvents) {
    this.#stream = stream;
    // Bound now, because the stdout guard replaces `write` on process.stdout later.
    this.#write = stream.write.bind(stream) as Writable["write"];
    this.#events = events;
    stream.on("error", this.#fail);
    stream.on("drain", this.#drain);
  }

  write(text: string): boolean {
    if (this.#broken || !this.#stream.writable) return true;
    // Strings cost half of what Buffers cost here, but a queued string is counted in UTF-16 units:
    // once something waits, bytes are queued, so that the limit on queued output is a limit in bytes.
    if (this.#stream.writableLength === 0) this.#write(text, "utf8");
    else this.#write(Buffer.from(text, "utf8"));
    // Not the return value of write(): it says false for 64 KiB that the kernel took at once.
    if (this.#stream.writableLength < this.#stream.writableHighWaterMark) return true;
    this.#waiting = true;
    return false;
  }

  queuedBytes(): number {
    return this.#broken ? 0 : this.#stream.writableLength;
  }

  /** Resolves when all has been handed to the operating system, after `ms` at the latest. */
  flush(ms: number): Promise<void> {
    if (this.#broken || this.#stream.writableLength === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#stream.off("close", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#stream.once("close", done);
      this.#write("", done);
    });
  }

  /** Takes the listeners off a stream that goes on to live without us (process.stdout). */
  detach(): void {
    this.#broken = true;
    this.#stream.off("error", this.#fail);
    this.#stream.off("drain", this.#drain);
  }

  readonly #drain = (): void => {
    if (!this.#waiting) return;
    this.#waiting = false;
    this.#events.drained();
  };

  readonly #fail = (error: NodeJS.ErrnoException): void => {
    if (this.#broken) return;
    this.#broken = true;
    this.#events.failed(error);
  };
}
