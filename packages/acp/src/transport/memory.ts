// Connects two transports in one process; they exchange text, never references.

import { limitsFrom } from "../jsonrpc/connection-options.ts";
import { closedHere, type EndReason, type Lines, type Sink, type Transport } from "../jsonrpc/transport.ts";
import { defaultFrameLimits, type FrameLimits, overflow, webPlatform } from "./byte-channel.ts";
import { type FrameParser, type FrameSink, frameParser } from "./frame-parser.ts";

/** The options of `memoryPair`. */
export interface MemoryPairOptions {
  /** The largest message, and how much output may wait. */
  readonly limits?: Partial<FrameLimits> | undefined;
}

/** Then one delivery waits for a macrotask, so that two busy peers do not block timers and I/O. */
const deliveriesPerTurn = 1_000;

// setImmediate is Node's macrotask without a delay
const { setImmediate: immediately } = globalThis as { setImmediate?: (callback: () => void) => unknown };

function inLaterTurn(callback: () => void): void {
  if (immediately === undefined) setTimeout(callback, 0);
  else immediately(callback);
}

/**
 * Makes two transports that are connected to each other in this process, for tests and for agents without a process.
 * They exchange text, never references.
 *
 * @returns The two ends.
 * @throws {TypeError} When a limit is not a number above 0.
 * @example
 * import { agent, client } from "@parley/acp";
 * import { memoryPair } from "@parley/acp/transport";
 *
 * const echo = agent({ name: "echo", version: "1.0.0", prompt: async (turn) => turn.say(turn.text) });
 * const app = client({ name: "my-client", version: "1.0.0" });
 * const [near, far] = memoryPair();
 * echo.connect(far);
 * await using connection = await app.connect(near);
 * console.log(connection.info?.name);
 */
export function memoryPair(options: MemoryPairOptions = {}): [Transport, Transport] {
  const limits = limitsFrom(defaultFrameLimits, options.limits);
  const left = new MemoryEnd(limits);
  const right = new MemoryEnd(limits);
  left.peer = right;
  right.peer = left;
  return [left, right];
}

function charsOf(sent: string | Lines): number {
  return typeof sent === "string" ? sent.length : sent.text.length;
}

class MemoryEnd implements Transport {
  /** Set by memoryPair(). */
  peer: MemoryEnd = this;
  readonly #limits: FrameLimits;
  readonly #deliverSoon = () => this.#deliver();
  #sink: Sink | undefined;
  #parser: FrameParser | undefined;
  /** Unread messages begin at `#next`, because removing the head of an array costs its length. */
  #inbox: (string | Lines)[] = [];
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
    this.#parser = frameParser(this.#whileOpen(sink), this.#limits, webPlatform);
    this.#schedule();
  }

  send(message: object, text: string = JSON.stringify(message)): boolean {
    return this.#closed || this.peer.#accept(text);
  }

  sendLines(lines: Lines): boolean {
    return this.#closed || this.peer.#accept(lines);
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
    const sink = this.#sink;
    this.#sink = undefined;
    this.#inbox = [];
    // the inbox is gone, so the peer need not wait for room in it
    if (this.#senderWaits) this.peer.#hasRoom();
    this.peer.#finish({ kind: "closed" });
    sink?.end(closedHere);
  }

  /** The sink may close the transport in the middle of lines. */
  #whileOpen(sink: Sink): FrameSink {
    return {
      message: (value, text) => this.#sink?.message(value, text),
      ...(sink.unread && {
        unread: (lines, from, longest) => this.#sink?.unread?.(lines, from, longest) ?? lines.text.length,
      }),
      reject: (fault) => this.#sink?.reject(fault),
    };
  }

  #accept(sent: string | Lines): boolean {
    if (this.#closed || this.#end !== undefined) return true;
    this.#inbox.push(sent);
    this.#inboxChars += charsOf(sent);
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
    this.#sink = undefined;
    // rejects only when the peer's sink throws
    this.close().catch(() => undefined);
    sink?.end(overflow(queued));
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
    // messages that arrive meanwhile belong to the next chunk
    const end = this.#inbox.length;
    while (this.#next < end && !this.#paused && this.#sink !== undefined) {
      const sent = this.#inbox[this.#next++] ?? "";
      this.#inboxChars -= charsOf(sent);
      if (typeof sent === "string") this.#parser?.frame(sent);
      else this.#parser?.lines(sent);
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
