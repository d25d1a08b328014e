// Makes a transport from a channel that carries whole texts, such as a port of a worker or a queue.

import { limitsFrom } from "../jsonrpc/connection-options.ts";
import { argumentText } from "../jsonrpc/errors.ts";
import { closedHere, type EndReason, type Sink, type Transport } from "../jsonrpc/transport.ts";
import { defaultFrameLimits, type FrameLimits, overflow, webPlatform } from "./byte-channel.ts";
import { type FrameParser, frameParser } from "./frame-parser.ts";

/** Carries whole texts to and from one peer, in order. */
export interface TextChannel {
  /** Begins to read. Called once, before everything but `close`. */
  open(receiver: TextReceiver): void;
  /** Sends one text. `false` means that it is queued and the peer is slow: call `receiver.drained` when there is room. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a channel without back-pressure returns nothing
  write(text: string): boolean | void;
  /** Closes both directions, after what was written. Called once. */
  close(): void | Promise<void>;
  /** Stops reading. Without it, what arrives during a pause is kept, up to `maxQueuedBytes`. */
  pause?(): void;
  /** Reads again. */
  resume?(): void;
}

/** Receives what a text channel reads. */
export interface TextReceiver {
  /** Takes one whole text. If it is not a message, it is answered as the protocol requires. */
  message(text: string): void;
  /** There is room again, after `write` returned false. */
  drained(): void;
  /** Nothing more will arrive. The reason is a sentence for the user, or says more, such as `{ kind: "eof" }`. */
  ended(reason?: string | EndReason): void;
}

/** The limits of a text transport. */
export interface TextTransportOptions {
  /** Limits of messages and queues. */
  readonly limits?: Partial<FrameLimits> | undefined;
}

/**
 * Makes a transport from a channel that carries whole texts. It parses them, keeps the limits of frames and queues, and
 * holds texts back until the channel is open.
 *
 * @param channel Carries the texts. Nobody else reads from it.
 * @throws {TypeError} When the channel lacks `open`, `write` or `close`.
 *
 * @example
 * import { textTransport } from "@parley/acp/transport";
 *
 * const { port1: port } = new MessageChannel();
 * const transport = textTransport({
 *   open(receiver) {
 *     port.onmessage = ({ data }) => receiver.message(data);
 *   },
 *   write: (text) => port.postMessage(text),
 *   close: () => port.close(),
 * });
 */
export function textTransport(channel: TextChannel, options: TextTransportOptions = {}): Transport {
  // only the compiler knows that it is one
  const methods: Partial<TextChannel> | null | undefined = channel;
  const isChannel = [methods?.open, methods?.write, methods?.close].every(
    (each) => typeof each === "function",
  );
  if (!isChannel)
    throw new TypeError(
      `textTransport: expected a channel with open, write and close, got ${argumentText(channel)}`,
    );
  return new TextTransport(channel, limitsFrom(defaultFrameLimits, options.limits));
}

class TextTransport implements Transport {
  readonly #channel: TextChannel;
  readonly #limits: FrameLimits;
  #sink: Sink | undefined;
  #parser: FrameParser | undefined;
  /** Texts that were sent before the channel was opened; undefined afterwards. */
  #beforeOpen: string[] | undefined = [];
  /** Characters that were written since the channel had no room. */
  #queuedChars = 0;
  #room = true;
  #isWriting = false;
  /** What was read during a pause or a write, and what comes behind it. */
  #held: string[] = [];
  #heldChars = 0;
  #isDelivering = false;
  #paused = false;
  #end: EndReason | undefined;
  #isInputOver = false;
  /** Why it failed before it was started. */
  #failedEarly: EndReason | undefined;
  /** Nothing is read or written any more, and the sink is not called. */
  #isOver = false;
  #closed: Promise<void> | undefined;

  constructor(channel: TextChannel, limits: FrameLimits) {
    this.#channel = channel;
    this.#limits = limits;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#parser = frameParser(sink, this.#limits, webPlatform);
    // deferred, because a channel may have texts or an end ready
    queueMicrotask(() => {
      if (this.#failedEarly === undefined) this.#open();
      else this.#sink?.end(this.#failedEarly);
    });
  }

  send(message: object, text: string = JSON.stringify(message)): boolean {
    if (this.#isOver) return true;
    if (this.#beforeOpen === undefined) this.#write(text);
    else {
      this.#beforeOpen.push(text);
      this.#count(text);
      if (this.#queuedChars > this.#limits.highWaterBytes) this.#room = false;
    }
    return this.#room || this.#isOver;
  }

  pause(): void {
    this.#paused = true;
    if (this.#beforeOpen === undefined) this.#channel.pause?.();
  }

  resume(): void {
    this.#paused = false;
    if (this.#beforeOpen === undefined) this.#channel.resume?.();
    this.#deliverSoon();
  }

  close(): Promise<void> {
    if (this.#closed === undefined && this.#sink !== undefined) this.#open();
    const sink = this.#isOver || this.#isInputOver ? undefined : this.#sink;
    this.#isOver = true;
    this.#sink = undefined;
    const closed = this.#closeChannel();
    sink?.end(closedHere);
    return closed;
  }

  /** Opens the channel, and writes what waited for it. */
  #open(): void {
    const texts = this.#beforeOpen;
    if (this.#isOver || texts === undefined) return;
    this.#beforeOpen = undefined;
    this.#queuedChars = 0;
    try {
      this.#channel.open({
        message: (text) => this.#message(text),
        drained: () => this.#drained(),
        ended: (reason) => this.#ended(reason),
      });
    } catch (cause) {
      return this.#fail(failed("open", cause));
    }
    if (this.#paused) this.#channel.pause?.();
    const waits = !this.#room;
    this.#room = true;
    for (const text of texts) if (!this.#isOver) this.#write(text);
    if (waits && this.#room) this.#sink?.drain();
  }

  #write(text: string): void {
    this.#isWriting = true;
    try {
      if (this.#channel.write(text) === false) this.#room = false;
    } catch (cause) {
      return this.#fail(failed("write", cause));
    } finally {
      this.#isWriting = false;
    }
    if (!this.#room) this.#count(text);
  }

  #count(text: string): void {
    this.#queuedChars += text.length;
    if (this.#queuedChars > this.#limits.maxQueuedBytes) this.#fail(overflow(this.#queuedChars));
  }

  #drained(): void {
    if (this.#room || this.#isOver) return;
    this.#room = true;
    this.#queuedChars = 0;
    this.#sink?.drain();
  }

  #message(text: string): void {
    if (this.#isOver || this.#end !== undefined) return;
    // a channel that answers at once must not call the sink while that is sending
    if (!this.#paused && !this.#isWriting && this.#held.length === 0) return this.#read(text);
    this.#held.push(text);
    this.#heldChars += String(text).length;
    if (this.#heldChars > this.#limits.maxQueuedBytes) {
      const message = `${this.#heldChars} characters arrived while nothing was read`;
      return this.#fail({ kind: "overflow", message });
    }
    this.#deliverSoon();
  }

  #read(text: string): void {
    // whatever a peer sends must not throw in the channel
    if (typeof text === "string") this.#parser?.frame(text);
    else this.#sink?.reject({ kind: "parse", bytes: 0, head: "" });
    this.#sink?.idle();
  }

  #deliverSoon(): void {
    if (this.#isDelivering || this.#paused) return;
    if (this.#held.length === 0 && this.#end === undefined) return;
    this.#isDelivering = true;
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    this.#isDelivering = false;
    const held = this.#held;
    let next = 0;
    while (next < held.length && !this.#paused && !this.#isOver) {
      const text = held[next++] ?? "";
      this.#heldChars -= String(text).length;
      this.#read(text);
    }
    held.splice(0, next);
    if (held.length === 0 && !this.#paused) this.#finish();
  }

  #ended(reason: string | EndReason = { kind: "closed" }): void {
    if (this.#isOver) return;
    this.#end ??= typeof reason === "string" ? { kind: "closed", message: reason } : reason;
    if (this.#held.length === 0 && !this.#paused && !this.#isWriting) this.#finish();
    else this.#deliverSoon();
  }

  /** Reports the end, behind everything that was read. */
  #finish(): void {
    if (this.#end === undefined || this.#isInputOver || this.#isOver) return;
    this.#isInputOver = true;
    if (this.#end.kind !== "eof") this.#isOver = true;
    this.#sink?.end(this.#end);
  }

  #fail(reason: EndReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held = [];
    this.#beforeOpen = [];
    if (this.#sink === undefined) this.#failedEarly = reason;
    // after the end of input the sink has already had its one end, so only release waiters
    if (this.#isInputOver) this.#sink?.drain();
    else this.#sink?.end(reason);
    // the sink knows the reason; a failure to close adds nothing
    this.#closeChannel().catch(() => undefined);
  }

  #closeChannel(): Promise<void> {
    this.#closed ??= (async () => this.#channel.close())();
    return this.#closed;
  }
}

function failed(what: "open" | "write", cause: unknown): EndReason {
  const said = cause instanceof Error ? `: ${cause.message}` : "";
  return { kind: "closed", message: `the channel failed to ${what}${said}`, cause };
}
