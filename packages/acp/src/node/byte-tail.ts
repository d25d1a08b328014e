// The last bytes of a stream, as text: what an agent wrote to stderr before it went away.

import { Buffer } from "node:buffer";

export class ByteTail {
  readonly #limit: number;
  #bytes: Buffer | undefined;
  #length = 0;
  #cut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    if (this.#limit === 0) return;
    // Twice the limit, so that the shift to the front happens once per `limit` bytes.
    this.#bytes ??= Buffer.allocUnsafe(this.#limit * 2);
    const kept = chunk.length > this.#limit ? chunk.subarray(chunk.length - this.#limit) : chunk;
    if (kept !== chunk) this.#cut = true;
    if (this.#length + kept.length > this.#bytes.length) {
      const from = Math.max(0, this.#length - this.#limit);
      this.#bytes.copyWithin(0, from, this.#length);
      this.#length -= from;
      this.#cut = true;
    }
    this.#bytes.set(kept, this.#length);
    this.#length += kept.length;
  }

  /** At most the last `limit` bytes, without the rest of a character that was cut in half. */
  text(): string {
    if (this.#bytes === undefined) return "";
    let from = Math.max(0, this.#length - this.#limit);
    if (from > 0 || this.#cut) {
      while (from < this.#length && isContinuation(this.#bytes[from])) from += 1;
    }
    return this.#bytes.toString("utf8", from, this.#length);
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
