// Keeps the last bytes of a stream in a ring buffer.

const smallestRing = 1024;

export class ByteTail {
  /** The number of all bytes so far. */
  received = 0;
  /** How many of them, from the front, were dropped. */
  dropped = 0;
  readonly #limit: number;
  #ring: Uint8Array<ArrayBuffer> = new Uint8Array(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    const kept = chunk.length > this.#limit ? chunk.subarray(chunk.length - this.#limit) : chunk;
    if (kept !== chunk) {
      this.received += chunk.length - kept.length;
      this.dropped = this.received;
    }
    this.#makeRoom(kept.length);
    putInRing(this.#ring, this.received, kept);
    this.received += kept.length;
    this.dropped = Math.max(this.dropped, this.received - this.#limit);
  }

  clear(): void {
    this.received = 0;
    this.dropped = 0;
  }

  /** Copies the kept bytes from this position of the stream on. */
  bytes(from = 0): Uint8Array<ArrayBuffer> {
    const start = Math.min(Math.max(from, this.dropped), this.received);
    const copy = new Uint8Array(this.received - start);
    if (copy.length === 0) return copy;
    const at = start % this.#ring.length;
    const first = this.#ring.subarray(at, Math.min(this.#ring.length, at + copy.length));
    copy.set(first, 0);
    copy.set(this.#ring.subarray(0, copy.length - first.length), first.length);
    return copy;
  }

  /** The bytes as text, without half a character at the cut or, unless `complete`, at the end. */
  text({ complete = true }: { readonly complete?: boolean } = {}): string {
    const bytes = this.bytes();
    let from = 0;
    // a character has at most three continuation bytes: a longer run is not text
    if (this.dropped > 0) while (from < 3 && isContinuation(bytes[from])) from += 1;
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    return decoder.decode(bytes.subarray(from), { stream: !complete });
  }

  #makeRoom(more: number): void {
    const wanted = Math.min(this.received - this.dropped + more, this.#limit);
    if (wanted <= this.#ring.length) return;
    const size = Math.max(smallestRing, wanted, this.#ring.length * 8);
    const grown = new Uint8Array(Math.min(size, this.#limit));
    // below the limit nothing has been dropped, so the bytes are at the front
    grown.set(this.#ring);
    this.#ring = grown;
  }
}

/** Expects at most as many bytes as the ring has. */
function putInRing(ring: Uint8Array, position: number, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  const at = position % ring.length;
  const fitting = Math.min(bytes.length, ring.length - at);
  ring.set(fitting === bytes.length ? bytes : bytes.subarray(0, fitting), at);
  if (fitting < bytes.length) ring.set(bytes.subarray(fitting), 0);
}

export function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
