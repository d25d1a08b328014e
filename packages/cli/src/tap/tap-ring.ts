// What waits to be written to the trace: a ring of bytes that two threads share. The main thread puts
// chunks in and never waits; the recorder's thread takes them out. Its size is the bound: what does not
// fit is not recorded, and the next thing that fits says so.

/** What an entry of the ring holds. */
export const entryKinds = { skip: 0, client: 1, agent: 2, stderr: 3, event: 4 } as const;
export type EntryKind = (typeof entryKinds)[keyof typeof entryKinds];

export interface RingMemory {
  readonly control: SharedArrayBuffer;
  readonly data: SharedArrayBuffer;
}

// The control words: how far has been written and how far has been read, in bytes, modulo 2^32. Positions are
// multiples of sixteen; an odd one says that nothing will follow.
const head = 0;
const tail = 1;
/** Rung when a quarter of the ring is in use, and for good at the end. */
const bell = 2;
/** The reader lets a little more come before it takes it: fewer turns of two threads, and fewer writes to the disk. */
const gatherMs = 20;
/** kind and length as 32-bit numbers, the time as a 64-bit one. */
const headerBytes = 16;

export function ringMemory(bytes: number): RingMemory {
  // a power of two, so that positions may run over 2^32
  const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 2 ** 17)));
  return { control: new SharedArrayBuffer(12), data: new SharedArrayBuffer(size) };
}

export class RingWriter {
  readonly #control: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #size: number;

  constructor(memory: RingMemory) {
    this.#control = new Int32Array(memory.control);
    this.#bytes = new Uint8Array(memory.data);
    this.#view = new DataView(memory.data);
    this.#size = memory.data.byteLength;
  }

  /** Copies a chunk in. False when there is no room for it; then nothing has changed. */
  push(kind: EntryKind, time: number, chunk: Uint8Array): boolean {
    const needed = headerBytes + padded(chunk.length);
    let at = Atomics.load(this.#control, head) >>> 0;
    const read = Atomics.load(this.#control, tail) >>> 0;
    const used = (at - read) >>> 0;
    const offset = at % this.#size;
    const toEnd = this.#size - offset;
    // an entry is never split: what does not fit before the end starts at the beginning
    const skips = toEnd < needed;
    if (used + needed + (skips ? toEnd : 0) > this.#size) return false;
    if (skips) {
      this.#header(offset, entryKinds.skip, toEnd - headerBytes, 0);
      at += toEnd;
    }
    const start = at % this.#size;
    this.#header(start, kind, chunk.length, time);
    this.#bytes.set(chunk, start + headerBytes);
    this.#move(at + needed);
    if (used + needed > this.#size / 4) Atomics.notify(this.#control, bell);
    return true;
  }

  /** How far the reader has come: a number that changes when it goes on. */
  get taken(): number {
    return Atomics.load(this.#control, tail);
  }

  /** Nothing more will be put in. */
  end(): void {
    Atomics.store(this.#control, bell, 1);
    Atomics.notify(this.#control, bell);
    this.#move((Atomics.load(this.#control, head) >>> 0) + 1);
  }

  #header(offset: number, kind: EntryKind, length: number, time: number): void {
    this.#view.setUint32(offset, kind);
    this.#view.setUint32(offset + 4, length);
    this.#view.setFloat64(offset + 8, time);
  }

  #move(to: number): void {
    Atomics.store(this.#control, head, to | 0);
    Atomics.notify(this.#control, head);
  }
}

export type TakeEntry = (kind: EntryKind, time: number, bytes: Buffer) => void;

export class RingReader {
  readonly #control: Int32Array;
  readonly #data: SharedArrayBuffer;
  readonly #view: DataView;

  constructor(memory: RingMemory) {
    this.#control = new Int32Array(memory.control);
    this.#data = memory.data;
    this.#view = new DataView(memory.data);
  }

  /**
   * Blocks this thread until something is there, then hands over all of it. The bytes are the ring's own
   * and good for the length of the call. False when it is over and everything was taken.
   */
  take(entry: TakeEntry): boolean {
    let at = Atomics.load(this.#control, tail) >>> 0;
    Atomics.wait(this.#control, head, at | 0);
    Atomics.wait(this.#control, bell, 0, gatherMs);
    const written = Atomics.load(this.#control, head) >>> 0;
    const ended = written % 2 === 1;
    const end = ended ? written - 1 : written;
    while (at !== end) {
      const offset = at % this.#data.byteLength;
      // What the one writer wrote is one of these.
      const kind = this.#view.getUint32(offset) as EntryKind;
      const length = this.#view.getUint32(offset + 4);
      if (kind !== entryKinds.skip) {
        const bytes = Buffer.from(this.#data, offset + headerBytes, length);
        entry(kind, this.#view.getFloat64(offset + 8), bytes);
      }
      at = (at + headerBytes + padded(length)) >>> 0;
      Atomics.store(this.#control, tail, at | 0);
    }
    return !ended;
  }
}

/** Headers are read with eight-byte fields at multiples of sixteen: the end of the ring always has room for one. */
function padded(length: number): number {
  return (length + 15) & ~15;
}
