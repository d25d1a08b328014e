// Two byte channels back to back in one process, with bytes that the test controls.

import type { ByteChannel, ByteReceiver } from "../../src/transport/byte-channel.ts";

export interface ByteEnd extends ByteChannel {
  /** Bytes to the receiver of this end, as one chunk, in order with what the other end writes. */
  inject(bytes: Uint8Array): void;
  /** Ends the output of this end alone. */
  endOutput(): void;
  /** Both ends notice that the connection broke. */
  cut(): void;
}

export function bytePipe(): [ByteEnd, ByteEnd] {
  const left = new PipeEnd();
  const right = new PipeEnd();
  left.peer = right;
  right.peer = left;
  return [left, right];
}

type Item = Uint8Array | "eof" | "closed";

class PipeEnd implements ByteEnd {
  peer: PipeEnd = this;
  readonly #encoder = new TextEncoder();
  #receiver: ByteReceiver | undefined;
  #inbox: Item[] = [];
  #inboxBytes = 0;
  #paused = false;
  #over = false;
  #closed = false;
  #waiting = false;

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    this.#deliver();
  }

  write(text: string): boolean {
    this.peer.inject(this.#encoder.encode(text));
    if (this.peer.#inboxBytes === 0) return true;
    this.#waiting = true;
    return false;
  }

  queuedBytes(): number {
    return this.peer.#inboxBytes;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    queueMicrotask(() => this.#deliver());
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.peer.#put("closed");
  }

  inject(bytes: Uint8Array): void {
    // the receiver may not keep a chunk, so each one is a copy that is wiped afterwards
    this.#inboxBytes += bytes.length;
    this.#put(new Uint8Array(bytes));
  }

  endOutput(): void {
    this.peer.#put("eof");
  }

  cut(): void {
    this.#put("closed");
    this.peer.#put("closed");
  }

  #put(item: Item): void {
    this.#inbox.push(item);
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    while (!this.#paused && !this.#closed && this.#receiver !== undefined && this.#inbox.length > 0) {
      const item = this.#inbox.shift();
      if (item instanceof Uint8Array) {
        this.#inboxBytes -= item.length;
        if (!this.#over) this.#receiver.bytes(item);
        item.fill(0xff);
      } else if (!this.#over) {
        this.#over = true;
        this.#receiver.ended(item === "eof" ? { kind: "eof" } : { kind: "closed", message: "broken" });
      }
    }
    if (!this.peer.#waiting || this.#inboxBytes > 0) return;
    this.peer.#waiting = false;
    this.peer.#receiver?.drained();
  }
}
