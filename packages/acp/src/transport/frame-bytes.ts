// Collects the bytes of a frame that has not ended yet.

import { ByteTail } from "../base/byte-tail.ts";
import type { Fault } from "../jsonrpc/transport.ts";
import { headChars, lossyHead, lossyTail, tailChars } from "./frame-parser.ts";

/** A piece grows with the frame up to this size, so that tiny chunks share pieces. */
const maxSharedPiece = 64 * 1024;

/**
 * Pieces are joined once, so that a frame costs the same per byte however it was chunked. Only the head and the
 * tail are kept of a frame over the limit.
 */
export class FrameBytes {
  readonly #limit: number;
  /** All are full except the last one, which may have room. */
  #pieces: Uint8Array[] = [];
  #room = 0;
  #dropped: { readonly head: string; readonly tail: ByteTail } | undefined;
  /** All bytes of the frame so far, dropped ones included. */
  size = 0;

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  /** Copies the chunk. */
  add(chunk: Uint8Array): void {
    this.size += chunk.length;
    if (this.#dropped !== undefined) this.#dropped.tail.push(chunk);
    else if (this.size <= this.#limit) this.#append(chunk);
    else this.#drop(chunk);
  }

  /** The frame, followed by `last`. Starts a new frame. */
  take(last: Uint8Array = new Uint8Array(0)): Uint8Array {
    const frame = new Uint8Array(this.size + last.length);
    this.#copyTo(frame.subarray(0, this.size));
    frame.set(last, this.size);
    this.clear();
    return frame;
  }

  /** The fault of a frame that went over the limit before `last`, or undefined. Starts a new frame after a fault. */
  takeFault(last: Uint8Array = new Uint8Array(0)): Fault | undefined {
    if (this.#dropped === undefined) return undefined;
    const { head, tail } = this.#dropped;
    const bytes = this.size + last.length;
    tail.push(last);
    this.clear();
    return { kind: "too_large", bytes, head, tail: lossyTail(tail.bytes()) };
  }

  /** The first bytes of a frame within the limit. */
  head(count: number): Uint8Array {
    const first = new Uint8Array(Math.min(count, this.size));
    this.#copyTo(first);
    return first;
  }

  /** The beginning of the frame as text, for a fault. */
  headText(): string {
    return this.#dropped?.head ?? lossyHead(this.head(headChars));
  }

  clear(): void {
    this.#pieces = [];
    this.#room = 0;
    this.#dropped = undefined;
    this.size = 0;
  }

  #append(chunk: Uint8Array): void {
    const fitting = Math.min(chunk.length, this.#room);
    const last = this.#pieces.at(-1);
    if (last !== undefined && fitting > 0) {
      last.set(fitting === chunk.length ? chunk : chunk.subarray(0, fitting), last.length - this.#room);
      this.#room -= fitting;
    }
    const left = chunk.length - fitting;
    if (left === 0) return;
    const piece = new Uint8Array(Math.max(left, Math.min(this.size, maxSharedPiece)));
    piece.set(fitting === 0 ? chunk : chunk.subarray(fitting));
    this.#pieces.push(piece);
    this.#room = piece.length - left;
  }

  #drop(chunk: Uint8Array): void {
    const tail = new ByteTail(tailChars);
    const last = this.#pieces.at(-1);
    for (const piece of this.#pieces)
      tail.push(piece === last ? piece.subarray(0, piece.length - this.#room) : piece);
    tail.push(chunk);
    this.#append(chunk.subarray(0, headChars));
    this.#dropped = { head: this.headText(), tail };
    this.#pieces = [];
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
