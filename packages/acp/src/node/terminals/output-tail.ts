// The last bytes of a command's output, as text. Never holds more than `limit` bytes, whatever is
// pushed; reading them costs one copy more.

import { Buffer } from "node:buffer";
import { isContinuation, partialCharacterLength } from "./utf8-boundary.ts";

export class OutputTail {
  readonly #limit: number;
  /** Grows up to the limit; from then on a ring. */
  #ring = Buffer.alloc(0);
  #start = 0;
  #length = 0;
  #truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether output has been dropped from the front. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** Copies what it keeps. */
  push(chunk: Uint8Array): void {
    if (this.#length + chunk.length > this.#limit) this.#truncated = true;
    const kept = chunk.length > this.#limit ? chunk.subarray(chunk.length - this.#limit) : chunk;
    if (kept.length === 0) return;
    this.#makeRoom(kept.length);
    const ring = this.#ring;
    const at = (this.#start + this.#length) % ring.length;
    const untilWrap = Math.min(kept.length, ring.length - at);
    ring.set(kept.subarray(0, untilWrap), at);
    ring.set(kept.subarray(untilWrap), 0);
    const surplus = Math.max(0, this.#length + kept.length - ring.length);
    this.#start = (this.#start + surplus) % ring.length;
    this.#length += kept.length - surplus;
  }

  /**
   * What is kept, without the rest of a character that was cut at the front and, unless the output is
   * `complete`, without the beginning of one whose other bytes have yet to come.
   */
  text(options: { readonly complete: boolean }): string {
    const bytes = this.#bytes();
    let from = 0;
    // No character has more than three continuation bytes: a longer run is not text, and stays.
    if (this.#truncated) while (from < 3 && isContinuation(bytes[from])) from += 1;
    const pending = options.complete ? 0 : partialCharacterLength(bytes);
    return bytes.toString("utf8", from, Math.max(from, bytes.length - pending));
  }

  #bytes(): Buffer {
    const toEnd = this.#ring.subarray(this.#start, this.#start + this.#length);
    if (toEnd.length === this.#length) return toEnd;
    return Buffer.concat([toEnd, this.#ring.subarray(0, this.#length - toEnd.length)]);
  }

  #makeRoom(bytes: number): void {
    const wanted = this.#length + bytes;
    const capacity = this.#ring.length;
    if (wanted <= capacity || capacity === this.#limit) return;
    // Below the limit nothing has been dropped yet, so the bytes lie at the front, in order.
    const grown = Buffer.allocUnsafeSlow(Math.min(this.#limit, Math.max(wanted, capacity * 8, 1024)));
    grown.set(this.#ring.subarray(0, this.#length));
    this.#ring = grown;
  }
}
