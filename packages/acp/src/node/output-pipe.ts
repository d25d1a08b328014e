// The writing half of a channel over a Node stream: order, back-pressure, flush, and write errors
// as one callback instead of an 'error' event that nobody handles.

import { Buffer } from "node:buffer";
import type { Writable } from "node:stream";
import { deadline } from "../base/deadline.ts";

export interface OutputPipeEvents {
  /** After `write` returned false: there is room again. */
  drained(): void;
  /** The other side has gone or the descriptor is broken. Called at most once. */
  failed(error: NodeJS.ErrnoException): void;
}

export class OutputPipe {
  readonly #stream: Writable;
  readonly #events: OutputPipeEvents;
  #waiting = false;
  #broken = false;

  constructor(stream: Writable, events: OutputPipeEvents) {
    this.#stream = stream;
    this.#events = events;
    stream.on("error", this.#fail);
    stream.on("drain", this.#drain);
  }

  write(text: string): boolean {
    if (this.#broken || !this.#stream.writable) return true;
    // Strings cost half of what Buffers cost here, but a queued string is counted in UTF-16 units:
    // once something waits, bytes are queued, so that the limit on queued output is a limit in bytes.
    if (this.#stream.writableLength === 0) this.#stream.write(text, "utf8");
    else this.#stream.write(Buffer.from(text, "utf8"));
    // The 'error' event comes in a later turn, which a caller that never leaves its own would not let come.
    if (this.#stream.errored !== null) {
      this.#fail(this.#stream.errored);
      return true;
    }
    // Not the return value of write(): it says false for 64 KiB that the kernel took at once.
    if (this.#stream.writableLength < this.#stream.writableHighWaterMark) return true;
    this.#waiting = true;
    return false;
  }

  queuedBytes(): number {
    return this.#broken ? 0 : this.#stream.writableLength;
  }

  /**
   * Writes what is queued, for up to `ms`, then destroys the stream. `shared` leaves the descriptor in
   * working order for its other users: ending a socket would shut it down for all of them.
   */
  async end(ms: number, { shared }: { readonly shared: boolean }): Promise<void> {
    const stream = this.#stream;
    if (ms > 0 && stream.writable) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          resolve();
        };
        const timer = deadline(ms, done);
        stream.once("close", done);
        if (shared) stream.write("", done);
        else stream.end(done);
      });
    }
    stream.destroy();
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
