// Implements a transport on a byte channel: framing, write coalescing and output limits.

import { limitsFrom } from "../jsonrpc/connection-options.ts";
import { closedHere, type EndReason, type Lines, type Sink, type Transport } from "../jsonrpc/transport.ts";
import {
  type ByteChannel,
  type ByteReceiver,
  defaultFrameLimits,
  type FrameLimits,
  overflow,
  type TextPlatform,
  webPlatform,
} from "./byte-channel.ts";
import { HeaderDecoder } from "./header-decoder.ts";
import { type DecoderSink, type FrameDecoder, LineDecoder } from "./line-decoder.ts";

/** The framing and limits of a transport on bytes. */
export interface ByteTransportOptions {
  /**
   * "auto" (default) reads and writes lines, unless the first bytes of input are `Content-Length:`; then it uses
   * that framing in both directions.
   */
  readonly framing?: "auto" | "ndjson" | "content-length" | undefined;
  /** The largest message, and how much output may wait. */
  readonly limits?: Partial<FrameLimits> | undefined;
  /** Decodes text. Default: TextDecoder and TextEncoder. `@parley/acp/node` passes Node's faster functions. */
  readonly platform?: TextPlatform | undefined;
}

/** Output is written when so many characters are queued, or after the current synchronous work. */
const flushChars = 64 * 1024;

/**
 * Makes a transport of a channel of bytes: frames messages, joins small writes and limits what waits.
 *
 * @param channel Your pipe or socket. The transport closes it.
 * @param options The framing and the limits.
 * @returns A transport for one connection.
 * @throws {TypeError} When a limit is not a number above 0.
 * @example
 * import { type ByteChannel, byteTransport, type Transport } from "@parley/acp/transport";
 *
 * // a port of your own, such as a serial line
 * interface Port {
 *   onData(listener: (chunk: Uint8Array) => void): void;
 *   onEnd(listener: () => void): void;
 *   write(text: string): void;
 *   close(): Promise<void>;
 * }
 *
 * export function portTransport(port: Port): Transport {
 *   const channel: ByteChannel = {
 *     open(receiver) {
 *       port.onData((chunk) => receiver.bytes(chunk));
 *       port.onEnd(() => receiver.ended({ kind: "eof" }));
 *     },
 *     write(text) {
 *       port.write(text);
 *       return true;
 *     },
 *     queuedBytes: () => 0,
 *     pause: () => undefined,
 *     resume: () => undefined,
 *     close: () => port.close(),
 *   };
 *   return byteTransport(channel, { framing: "ndjson" });
 * }
 */
export function byteTransport(channel: ByteChannel, options: ByteTransportOptions = {}): Transport {
  return new ByteTransport(channel, options);
}

class ByteTransport implements Transport, ByteReceiver {
  readonly #channel: ByteChannel;
  readonly #limits: FrameLimits;
  readonly #platform: TextPlatform;
  readonly #flushSoon = () => {
    this.#scheduled = false;
    this.#flush();
  };
  #framing: "auto" | "ndjson" | "content-length";
  #decoder: FrameDecoder | undefined;
  /** The first bytes, while they may still become `Content-Length:`. */
  #first = new Uint8Array(0);
  #sink: Sink | undefined;
  #out = "";
  #scheduled = false;
  #room = true;
  #paused = false;
  /** The sink has been called with the end of input. */
  #inputOver = false;
  /** Nothing is read or written any more, and the sink is not called. */
  #ended = false;

  constructor(channel: ByteChannel, options: ByteTransportOptions) {
    this.#channel = channel;
    this.#limits = limitsFrom(defaultFrameLimits, options.limits);
    this.#platform = options.platform ?? webPlatform;
    this.#framing = options.framing ?? "auto";
  }

  start(sink: Sink): void {
    this.#sink = sink;
    // deferred, because a channel may have bytes or an end ready
    this.#platform.defer(() => {
      if (this.#ended) return;
      this.#channel.open(this);
      if (this.#paused) this.#channel.pause();
    });
  }

  send(message: object, text?: string): boolean {
    return this.#ended || this.#queue(this.#frame(message, text));
  }

  sendLines({ text }: Lines): boolean {
    if (this.#framing !== "content-length") return this.#ended || this.#queue(text);
    for (const line of text.slice(0, -1).split("\n")) this.send({}, line);
    return this.#room || this.#ended;
  }

  #queue(text: string): boolean {
    this.#out += text;
    if (this.#out.length >= flushChars) this.#flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      this.#platform.defer(this.#flushSoon);
    }
    return this.#room || this.#ended;
  }

  endOutput(): void {
    this.#flush();
    this.#channel.endOutput?.();
  }

  pause(): void {
    this.#paused = true;
    this.#channel.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#channel.resume();
  }

  async close(reason?: Error): Promise<void> {
    this.#flush();
    const sink = this.#ended || this.#inputOver ? undefined : this.#sink;
    this.#ended = true;
    this.#sink = undefined;
    const closed = this.#channel.close(reason);
    sink?.end(closedHere);
    await closed;
  }

  // ---- ByteReceiver

  bytes(chunk: Uint8Array): void {
    if (this.#ended || this.#inputOver) return;
    if (this.#decoder !== undefined) this.#decoder.push(chunk);
    else this.#sniff(chunk);
    this.#sink?.idle();
    if (this.#out !== "") this.#flush();
  }

  drained(): void {
    if (this.#room || this.#ended) return;
    this.#room = true;
    this.#sink?.drain();
  }

  ended(reason: EndReason): void {
    if (this.#ended || this.#inputOver) return;
    this.#inputOver = true;
    if (this.#decoder === undefined) this.#beginDecoding(this.#framing === "content-length", this.#first);
    this.#decoder?.end();
    this.#sink?.idle();
    this.#flush();
    if (reason.kind !== "eof") this.#ended = true;
    this.#sink?.end(reason);
  }

  // ----

  #frame(message: object, given: string | undefined): string {
    if (this.#framing === "content-length") {
      const text = given ?? JSON.stringify(message);
      return `Content-Length: ${this.#platform.byteLength(text)}\r\n\r\n${text}`;
    }
    // text from another framing may contain line breaks (T2)
    const isUsable = given?.includes("\n") === false;
    return `${isUsable ? given : JSON.stringify(message)}\n`;
  }

  #beginDecoding(hasHeaders: boolean, input: Uint8Array): void {
    const sink: DecoderSink = {
      message: (value, text) => {
        if (!this.#ended) this.#sink?.message(value, text);
      },
      ...(this.#sink?.unread && {
        unread: (lines, from, longest) =>
          this.#ended ? lines.text.length : (this.#sink?.unread?.(lines, from, longest) ?? from),
      }),
      reject: (fault) => {
        if (!this.#ended) this.#sink?.reject(fault);
      },
      fatal: (kind, message) => this.#fail({ kind, message }),
    };
    const kind = hasHeaders ? HeaderDecoder : LineDecoder;
    this.#decoder = new kind(sink, this.#limits, this.#platform);
    this.#first = new Uint8Array(0);
    this.#decoder.push(input);
  }

  /** Detects the framing from the first bytes, and drops a leading byte order mark. */
  #sniff(chunk: Uint8Array): void {
    const seen = new Uint8Array(this.#first.length + chunk.length);
    seen.set(this.#first);
    seen.set(chunk, this.#first.length);
    const mark = beginsLike(seen, byteOrderMark);
    const input = mark === "yes" ? seen.subarray(byteOrderMark.length) : seen;
    const header = this.#framing === "auto" ? beginsLike(input, contentLength) : "no";
    if (mark === "maybe" || header === "maybe") {
      this.#first = seen;
      return;
    }
    if (header === "yes") this.#framing = "content-length";
    this.#beginDecoding(this.#framing === "content-length", input);
  }

  #flush(): void {
    if (this.#out === "" || this.#ended) return;
    const text = this.#out;
    this.#out = "";
    if (this.#channel.write(text)) return;
    const queued = this.#channel.queuedBytes();
    if (queued <= this.#limits.highWaterBytes) return;
    this.#room = false;
    if (queued > this.#limits.maxQueuedBytes) this.#fail(overflow(queued));
  }

  #fail(reason: EndReason): void {
    if (this.#ended) return;
    this.#ended = true;
    // after the end of input the sink has already had its one end, so only release waiters
    if (this.#inputOver) this.#sink?.drain();
    else this.#sink?.end(reason);
    // the sink knows the reason; a failure to close adds nothing
    this.#channel.close(new Error(reason.message)).catch(() => undefined);
  }
}

const byteOrderMark = [0xef, 0xbb, 0xbf];
const contentLength = Array.from("content-length:", (letter) => letter.charCodeAt(0));

function beginsLike(bytes: Uint8Array, wanted: readonly number[]): "yes" | "no" | "maybe" {
  for (const [i, byte] of wanted.entries()) {
    const got = bytes[i];
    if (got === undefined) return "maybe";
    const lower = got >= 0x41 && got <= 0x5a ? got + 0x20 : got;
    if (lower !== byte) return "no";
  }
  return "yes";
}
