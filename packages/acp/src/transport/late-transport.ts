// A transport whose code is loaded when it is started: what few programs use costs the others nothing.

import { limitsFrom } from "../jsonrpc/connection-options.ts";
import { closedHere, type EndReason, type Sink, type Transport } from "../jsonrpc/transport.ts";
import { defaultFrameLimits, type FrameLimits, overflow } from "./byte-channel.ts";

/** `limits` are those of the transport that is loaded. */
export function lateTransport(load: () => Promise<Transport>, limits?: Partial<FrameLimits>): Transport {
  return new LateTransport(load, limitsFrom(defaultFrameLimits, limits));
}

class LateTransport implements Transport {
  readonly #load: () => Promise<Transport>;
  readonly #limits: FrameLimits;
  #sink: Sink | undefined;
  #loaded: Transport | undefined;
  #loading: Promise<void> | undefined;
  /** Sent while it was loaded, which takes milliseconds. */
  #early: [message: object, text: string][] = [];
  #earlyChars = 0;
  #isPaused = false;
  #isClosed = false;

  constructor(load: () => Promise<Transport>, limits: FrameLimits) {
    this.#load = load;
    this.#limits = limits;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#loading = this.#load().then(
      (transport) => this.#take(transport, sink),
      (cause: unknown) => this.#end({ kind: "closed", message: failureOf(cause), cause }),
    );
  }

  send(message: object, text?: string): boolean {
    if (this.#loaded !== undefined) return this.#loaded.send(message, text);
    if (this.#isClosed) return true;
    // now, as the others do: the message may be changed afterwards, and what is no JSON throws here
    const written = text ?? JSON.stringify(message);
    this.#early.push([message, written]);
    this.#earlyChars += written.length;
    const { highWaterBytes, maxQueuedBytes } = this.#limits;
    if (this.#earlyChars > maxQueuedBytes) this.#end(overflow(this.#earlyChars));
    return this.#earlyChars <= highWaterBytes;
  }

  pause(): void {
    this.#isPaused = true;
    this.#loaded?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#loaded?.resume();
  }

  async close(reason?: Error): Promise<void> {
    const sink = this.#isClosed || this.#loaded !== undefined ? undefined : this.#sink;
    this.#isClosed = true;
    this.#early = [];
    sink?.end(closedHere);
    await this.#loading;
    await this.#loaded?.close(reason);
  }

  #end(reason: EndReason): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#early = [];
    this.#sink?.end(reason);
  }

  #take(transport: Transport, sink: Sink): void {
    if (this.#isClosed) return;
    this.#loaded = transport;
    if (this.#isPaused) transport.pause();
    transport.start(sink);
    let hasRoom = true;
    for (const [message, text] of this.#early) hasRoom = transport.send(message, text);
    this.#early = [];
    // where it has none, it says itself when there is
    if (hasRoom && this.#earlyChars > this.#limits.highWaterBytes) sink.drain();
  }
}

function failureOf(cause: unknown): string {
  return `the transport could not be made: ${cause instanceof Error ? cause.message : String(cause)}`;
}
