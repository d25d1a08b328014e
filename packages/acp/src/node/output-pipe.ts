// Writes to a Node stream with back-pressure, flushing and one error callback.

import { Buffer } from "node:buffer";
import type { Writable } from "node:stream";
import { withTimeout } from "../base/abortable.ts";

export interface OutputPipeEvents {
  /** After `write` returned false: there is room again. */
  drained(): void;
  /** Called at most once, when writing fails. */
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
    // Strings are twice as fast as Buffers here, but a queued string is counted in UTF-16 units. Buffers are used
    // once something is queued, so that the limit is in bytes.
    if (this.#stream.writableLength === 0) this.#stream.write(text, "utf8");
    else this.#stream.write(Buffer.from(text, "utf8"));
    // the 'error' event comes in a later turn of the event loop
    if (this.#stream.errored !== null) {
      this.#fail(this.#stream.errored);
      return true;
    }
    // write() returns false also when the kernel has taken everything
    if (this.#stream.writableLength < this.#stream.writableHighWaterMark) return true;
    this.#waiting = true;
    return false;
  }

  queuedBytes(): number {
    return this.#broken ? 0 : this.#stream.writableLength;
  }

  /**
   * Flushes for up to `ms`, then destroys the stream. `shared` keeps the descriptor usable for others: ending a
   * socket would shut it down for all of them.
   */
  async end(ms: number, { shared }: { readonly shared: boolean }): Promise<void> {
    const stream = this.#stream;
    if (ms > 0 && stream.writable) {
      const { promise: flushed, resolve } = Promise.withResolvers<void>();
      stream.once("close", resolve);
      if (shared) stream.write("", () => resolve());
      else stream.end(resolve);
      await withTimeout(ms, flushed);
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
