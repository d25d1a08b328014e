// Two transports back to back in one process. Text crosses, never references, so that what works here
// works on a wire.

import { limitsFrom } from "../jsonrpc/limits.ts";
import type { EndReason, Sink, Transport } from "../jsonrpc/transport.ts";
import { webPlatform } from "./byte-channel.ts";
import { defaultFrameLimits, type FrameLimits } from "./frame-limits.ts";
import { type FrameParser, frameParser } from "./frame-parser.ts";

export interface MemoryPairOptions {
  readonly limits?: Partial<FrameLimits>;
}

/** Two peers that keep answering one another by microtasks alone would keep timers and I/O from running. */
const deliveriesPerTurn = 1_000;

/** Node has the macrotask that does not wait a millisecond; a browser has the one that everybody has. */
const { setImmediate: immediately } = globalThis as { setImmediate?: (callback: () => void) => unknown };

function inLaterTurn(callback: () => void): void {
  if (immediately === undefined) setTimeout(callback, 0);
  else immediately(callback);
}

/** A connected pair: what one end sends, the other receives. */
export function memoryPair(options: MemoryPairOptions = {}): [Transport, Transport] {
  const limits = limitsFrom(defaultFrameLimits, options.limits);
  const left = new MemoryEnd(limits);
  const right = new MemoryEnd(limits);
  left.peer = right;
  right.peer = left;
  return [left, right];
}

class MemoryEnd implements Transport {
  /** Itself until memoryPair() has joined two. */
  peer: MemoryEnd = this;
  readonly #limits: FrameLimits;
  readonly #deliverSoon = () => this.#deliver();
  #sink: Sink | undefined;
  #parser: FrameParser | undefined;
  /** What has not been read yet begins at `#next`: a queue that is cut at its head costs its length. */
  #inbox: string[] = [];
  #next = 0;
  #inboxChars = 0;
  #scheduled = false;
  #deliveries = 0;
  #paused = false;
  #senderWaits = false;
  #end: EndReason | undefined;
  #closed = false;

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#parser = frameParser(sink, this.#limits, webPlatform.byteLength);
    this.#schedule();
  }

  send(message: object, text: string = JSON.stringify(message)): boolean {
    return this.#closed || this.peer.#accept(text);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#sink = undefined;
    this.#inbox = [];
    // nobody reads this any more, so nobody has to wait for room in it
    if (this.#senderWaits) this.peer.#hasRoom();
    this.peer.#finish({ kind: "closed" });
  }

  #accept(text: string): boolean {
    if (this.#closed || this.#end !== undefined) return true;
    this.#inbox.push(text);
    this.#inboxChars += text.length;
    this.#schedule();
    if (this.#inboxChars <= this.#limits.highWaterBytes) return true;
    this.#senderWaits = true;
    if (this.#inboxChars > this.#limits.maxQueuedBytes) this.peer.#overflow(this.#inboxChars);
    return false;
  }

  #hasRoom(): void {
    this.#sink?.drain();
  }

  #overflow(queued: number): void {
    const sink = this.#sink;
    // closing waits for nothing; it rejects only with what the peer's sink throws, which is not ours to tell
    this.close().catch(() => undefined);
    sink?.end({ kind: "overflow", message: `the peer does not read: ${queued} bytes of output are queued` });
  }

  #finish(reason: EndReason): void {
    this.#end ??= reason;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#paused || this.#sink === undefined) return;
    if (this.#next === this.#inbox.length && this.#end === undefined) return;
    this.#scheduled = true;
    if (++this.#deliveries % deliveriesPerTurn === 0) inLaterTurn(this.#deliverSoon);
    else queueMicrotask(this.#deliverSoon);
  }

  #deliver(): void {
    this.#scheduled = false;
    // what comes while this is read is another chunk
    const end = this.#inbox.length;
    while (this.#next < end && !this.#paused && this.#sink !== undefined) {
      const text = this.#inbox[this.#next++] ?? "";
      this.#inboxChars -= text.length;
      this.#parser?.frame(text);
    }
    if (this.#next === this.#inbox.length) {
      this.#inbox = [];
      this.#next = 0;
    } else if (this.#next > this.#inbox.length / 2) {
      this.#inbox.splice(0, this.#next);
      this.#next = 0;
    }
    this.#sink?.idle();
    if (this.#senderWaits && this.#inboxChars <= this.#limits.highWaterBytes) {
      this.#senderWaits = false;
      this.peer.#hasRoom();
    }
    if (this.#inbox.length > 0) this.#schedule();
    else if (this.#end !== undefined && !this.#paused) {
      const sink = this.#sink;
      this.#sink = undefined;
      sink?.end(this.#end);
    }
  }
}
