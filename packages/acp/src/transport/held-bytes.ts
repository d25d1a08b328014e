// The bytes of a frame that has not ended yet. Pieces are kept apart and joined once, so that a frame
// costs the same per byte however it was chunked.

export class HeldBytes {
  #pieces: Uint8Array[] = [];
  /** The last piece may have room: a stream of tiny chunks must not become a list of tiny pieces. */
  #room = 0;
  size = 0;

  /** Copies: the chunk may be reused by whoever read it. */
  add(chunk: Uint8Array): void {
    const last = this.#pieces.at(-1);
    if (last !== undefined && chunk.length <= this.#room) {
      last.set(chunk, last.length - this.#room);
      this.#room -= chunk.length;
    } else {
      if (last !== undefined && this.#room > 0) {
        this.#pieces[this.#pieces.length - 1] = last.subarray(0, last.length - this.#room);
      }
      const capacity = Math.max(chunk.length, Math.min(this.size, 64 * 1024));
      const piece = new Uint8Array(capacity);
      piece.set(chunk);
      this.#pieces.push(piece);
      this.#room = capacity - chunk.length;
    }
    this.size += chunk.length;
  }

  /** Everything held, followed by `tail`; afterwards nothing is held. */
  take(tail: Uint8Array): Uint8Array {
    const whole = new Uint8Array(this.size + tail.length);
    let at = 0;
    for (const piece of this.#pieces) {
      const used = Math.min(piece.length, this.size - at);
      whole.set(used === piece.length ? piece : piece.subarray(0, used), at);
      at += used;
    }
    whole.set(tail, at);
    this.clear();
    return whole;
  }

  /** The first bytes of what is held, for a fault's head. */
  head(count: number): Uint8Array {
    const first = new HeldBytes();
    for (const piece of this.#pieces) {
      if (first.size >= count) break;
      first.add(piece.subarray(0, Math.min(piece.length, count - first.size, this.size - first.size)));
    }
    return first.take(new Uint8Array(0));
  }

  clear(): void {
    this.#pieces = [];
    this.#room = 0;
    this.size = 0;
  }
}
