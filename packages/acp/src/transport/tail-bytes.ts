// The last bytes of a frame that is thrown away while it arrives, so that an id that was written last can
// be found. The cost is the same per byte however the frame was chunked.

export const tailChars = 2 * 1024;

export class TailBytes {
  readonly #bytes = new Uint8Array(2 * tailChars);
  #used = 0;

  add(chunk: Uint8Array): void {
    const last = chunk.length > tailChars ? chunk.subarray(-tailChars) : chunk;
    if (this.#used + last.length > this.#bytes.length) {
      this.#bytes.copyWithin(0, this.#used - tailChars, this.#used);
      this.#used = tailChars;
    }
    this.#bytes.set(last, this.#used);
    this.#used += last.length;
  }

  /** At most `tailChars` bytes. */
  get value(): Uint8Array {
    return this.#bytes.subarray(Math.max(0, this.#used - tailChars), this.#used);
  }
}
