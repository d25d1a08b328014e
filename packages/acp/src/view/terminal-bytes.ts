// Keeps the last bytes of a terminal's output in a ring buffer.

import type { OutputBytes } from "./session-view.ts";

const smallest = 1024;

export class TerminalBytes implements OutputBytes {
  readonly #limit: number;
  #ring: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  received = 0;
  dropped = 0;
  generation = 0;
  undecodable = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  append(bytes: Uint8Array): void {
    const tail = bytes.length > this.#limit ? bytes.subarray(bytes.length - this.#limit) : bytes;
    if (tail !== bytes) {
      this.received += bytes.length - tail.length;
      this.dropped = this.received;
    }
    this.#makeRoom(tail.length);
    putInRing(this.#ring, this.received, tail);
    this.received += tail.length;
    this.dropped = Math.max(this.dropped, this.received - this.#limit);
  }

  /** Replaces everything: a snapshot is never mixed with older bytes (C51). */
  replace(bytes: Uint8Array): void {
    this.generation += 1;
    this.received = 0;
    this.dropped = 0;
    this.append(bytes);
  }

  bytes(from = 0): Uint8Array<ArrayBuffer> {
    const start = Math.min(Math.max(from, this.dropped), this.received);
    return copyOfRing(this.#ring, start, this.received);
  }

  text(): string {
    const bytes = this.bytes();
    let from = 0;
    if (this.dropped > 0) while (from < 3 && isContinuation(bytes[from])) from += 1;
    // stream: an incomplete character at the end is left out
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    return decoder.decode(bytes.subarray(from), { stream: true });
  }

  toJSON(): unknown {
    const { received, dropped, generation, undecodable } = this;
    return { text: this.text(), received, dropped, generation, undecodable };
  }

  /** Doubles the ring until the bytes fit or the limit is reached. */
  #makeRoom(more: number): void {
    const kept = this.received - this.dropped;
    const wanted = Math.min(kept + more, this.#limit);
    if (wanted <= this.#ring.length) return;
    let size = Math.max(smallest, this.#ring.length);
    while (size < wanted) size *= 2;
    size = Math.min(size, this.#limit);
    const grown = new Uint8Array(size);
    putInRing(grown, this.dropped, this.bytes());
    this.#ring = grown;
  }
}

/** Expects at most as many bytes as the ring has. */
function putInRing(ring: Uint8Array, position: number, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  const at = position % ring.length;
  const fits = ring.length - at;
  if (bytes.length <= fits) {
    ring.set(bytes, at);
  } else {
    ring.set(bytes.subarray(0, fits), at);
    ring.set(bytes.subarray(fits), 0);
  }
}

function copyOfRing(ring: Uint8Array, start: number, end: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(end - start);
  if (copy.length === 0) return copy;
  const at = start % ring.length;
  const first = ring.subarray(at, Math.min(ring.length, at + copy.length));
  copy.set(first, 0);
  copy.set(ring.subarray(0, copy.length - first.length), first.length);
  return copy;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** The bytes of one chunk; undefined if it is not base64. */
export function bytesFromBase64(data: string): Uint8Array | undefined {
  let binary: string;
  try {
    binary = atob(data);
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
