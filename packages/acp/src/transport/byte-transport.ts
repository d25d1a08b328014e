// A Transport on any pair of byte streams: finds the framing, splits frames, coalesces writes, bounds
// what is queued.

import type { EndReason, Sink, Transport } from "../jsonrpc/transport.ts";
import { type ByteChannel, type ByteReceiver, type TextPlatform, webPlatform } from "./byte-channel.ts";
import { defaultFrameLimits, type FrameLimits } from "./frame-limits.ts";
import { HeaderDecoder } from "./header-decoder.ts";
import { type DecoderSink, type FrameDecoder, LineDecoder } from "./line-decoder.ts";

export interface ByteTransportOptions {
  /**
   * "auto" (default) reads and writes lines, unless the very first bytes of input are `Content-Length:`;
   * then it answers in kind. "ndjson" and "content-length" are fixed.
   */
  readonly framing?: "auto" | "ndjson" | "content-length";
  readonly limits?: Partial<FrameLimits>;
  /** Default: what every JavaScript runtime has. `@parley/acp/node` passes Node's faster one. */
  readonly platform?: TextPlatform;
}

/** Output is written when so many characters are queued, or when the current work has returned. */
const flushChars = 64 * 1024;

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
  /** The first bytes, while they could still become `Content-Length:`. */
  #first = new Uint8Array(0);
  #sink: Sink | undefined;
  #out = "";
  #scheduled = false;
  #room = true;
  #ended = false;

  constructor(channel: ByteChannel, options: ByteTransportOptions) {
    this.#channel = channel;
    this.#limits = { ...defaultFrameLimits, ...options.limits };
    this.#platform = options.platform ?? webPlatform;
    this.#framing = options.framing ?? "auto";
  }

  start(sink: Sink): void {
    this.#sink = sink;
    if (this.#framing === "content-length") this.#decoder = this.#makeDecoder(HeaderDecoder);
    this.#channel.open(this);
  }

  send(message: object, text: string = JSON.stringify(message)): boolean {
    this.#out +=
      this.#framing === "content-length"
        ? `Content-Length: ${this.#platform.byteLength(text)}\r\n\r\n${text}`
        : `${text}\n`;
    if (this.#out.length >= flushChars) this.#flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      this.#platform.defer(this.#flushSoon);
    }
    return this.#room;
  }

  pause(): void {
    this.#channel.pause();
  }

  resume(): void {
    this.#channel.resume();
  }

  async close(reason?: Error): Promise<void> {
    this.#flush();
    this.#ended = true;
    await this.#channel.close(reason);
  }

  // ---- ByteReceiver

  bytes(chunk: Uint8Array): void {
    if (this.#ended) return;
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
    if (this.#ended) return;
    if (this.#decoder === undefined) {
      this.#decoder = this.#makeDecoder(LineDecoder);
      this.#decoder.push(this.#first);
    }
    this.#decoder.end();
    this.#sink?.idle();
    this.#flush();
    this.#endOnce(reason);
  }

  // ----

  #makeDecoder(kind: typeof LineDecoder | typeof HeaderDecoder): FrameDecoder {
    const sink = this.#sink;
    if (sink === undefined) throw new Error("a transport must be started before it reads");
    const decoderSink: DecoderSink = {
      message: (value, text) => sink.message(value, text),
      reject: (fault) => sink.reject(fault),
      fatal: (kind, message) => this.#fail({ kind, message }),
    };
    return new kind(decoderSink, this.#limits, this.#platform);
  }

  /** Decides on the framing as soon as the first bytes allow it, and drops a leading byte order mark. */
  #sniff(chunk: Uint8Array): void {
    const seen = new Uint8Array(this.#first.length + chunk.length);
    seen.set(this.#first);
    seen.set(chunk, this.#first.length);
    const text = beginsLike(seen, [0xef, 0xbb, 0xbf]);
    const input = text === "yes" ? seen.subarray(3) : seen;
    const header = this.#framing === "auto" ? beginsLike(input, contentLength) : "no";
    if (text === "maybe" || header === "maybe") {
      this.#first = seen;
      return;
    }
    if (header === "yes") this.#framing = "content-length";
    this.#decoder = this.#makeDecoder(header === "yes" ? HeaderDecoder : LineDecoder);
    this.#first = new Uint8Array(0);
    this.#decoder.push(input);
  }

  #flush(): void {
    if (this.#out === "" || this.#ended) return;
    const text = this.#out;
    this.#out = "";
    if (this.#channel.write(text)) return;
    this.#room = false;
    const queued = this.#channel.queuedBytes();
    if (queued > this.#limits.maxQueuedBytes) {
      this.#fail({
        kind: "overflow",
        message: `the peer does not read: ${queued} bytes of output are queued`,
      });
    }
  }

  #fail(reason: EndReason): void {
    if (this.#ended) return;
    this.#endOnce(reason);
    this.#ended = true;
    // the sink has been told why; a channel that fails to close has nothing to add
    this.#channel.close(new Error(reason.message)).catch(() => undefined);
  }

  #endOnce(reason: EndReason): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end(reason);
  }
}

const contentLength = [...new TextEncoder().encode("content-length:")];

function beginsLike(bytes: Uint8Array, wanted: readonly number[]): "yes" | "no" | "maybe" {
  for (const [i, byte] of wanted.entries()) {
    const got = bytes[i];
    if (got === undefined) return "maybe";
    const lower = got >= 0x41 && got <= 0x5a ? got + 0x20 : got;
    if (lower !== byte) return "no";
  }
  return "yes";
}
