// Keeps the last bytes of a stream.

export class ByteTail {
  readonly #limit: number;
  #buffer: Uint8Array | undefined;
  #length = 0;
  #isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    if (this.#limit === 0) return;
    // Twice the limit, so that the shift to the front happens once per `limit` bytes.
    this.#buffer ??= new Uint8Array(this.#limit * 2);
    const kept = chunk.length > this.#limit ? chunk.subarray(-this.#limit) : chunk;
    if (kept !== chunk) this.#isCut = true;
    if (this.#length + kept.length > this.#buffer.length) {
      const from = Math.max(0, this.#length - this.#limit);
      this.#buffer.copyWithin(0, from, this.#length);
      this.#length -= from;
      this.#isCut = true;
    }
    this.#buffer.set(kept, this.#length);
    this.#length += kept.length;
  }

  /** At most the last `limit` bytes; valid until the next `push`. */
  get bytes(): Uint8Array {
    return this.#buffer?.subarray(Math.max(0, this.#length - this.#limit), this.#length) ?? new Uint8Array();
  }

  /** The same as text, without the remains of a character at the cut. */
  text(): string {
    const { bytes } = this;
    let from = 0;
    if (this.#isCut || bytes.length < this.#length)
      while (from < bytes.length && isContinuation(bytes[from])) from += 1;
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from));
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
