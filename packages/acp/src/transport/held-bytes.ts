// The bytes of a frame that has not ended yet. Pieces are kept apart and joined once, so that a frame
// costs the same per byte however it was chunked.

/** A piece grows with what is held, so that tiny chunks share pieces; beyond this it does not. */
const maxSharedPiece = 64 * 1024;

export class HeldBytes {
  /** All full but the last one, which may have room. */
  #pieces: Uint8Array[] = [];
  #room = 0;
  size = 0;

  /** Copies: the chunk may be reused by whoever read it. */
  add(chunk: Uint8Array): void {
    const fitting = Math.min(chunk.length, this.#room);
    const last = this.#pieces.at(-1);
    if (last !== undefined && fitting > 0) {
      last.set(fitting === chunk.length ? chunk : chunk.subarray(0, fitting), last.length - this.#room);
      this.#room -= fitting;
    }
    const left = chunk.length - fitting;
    if (left > 0) {
      const piece = new Uint8Array(Math.max(left, Math.min(this.size, maxSharedPiece)));
      piece.set(fitting === 0 ? chunk : chunk.subarray(fitting));
      this.#pieces.push(piece);
      this.#room = piece.length - left;
    }
    this.size += chunk.length;
  }

  /** Everything held, followed by `tail`; afterwards nothing is held. */
  take(tail: Uint8Array): Uint8Array {
    const whole = new Uint8Array(this.size + tail.length);
    this.#copyTo(whole.subarray(0, this.size));
    whole.set(tail, this.size);
    this.clear();
    return whole;
  }

  /** The first bytes of what is held, for a fault's head. */
  head(count: number): Uint8Array {
    const first = new Uint8Array(Math.min(count, this.size));
    this.#copyTo(first);
    return first;
  }

  clear(): void {
    this.#pieces = [];
    this.#room = 0;
    this.size = 0;
  }

  #copyTo(target: Uint8Array): void {
    let at = 0;
    for (const piece of this.#pieces) {
      if (at === target.length) return;
      const used = Math.min(piece.length, target.length - at);
      target.set(used === piece.length ? piece : piece.subarray(0, used), at);
      at += used;
    }
  }
}
