// NDJSON: one message per line, split on byte 0x0A only (U+2028 is not a line end). One decode per
// chunk; only a line that spans chunks is joined first.

import { ByteTail } from "../base/byte-tail.ts";
import type { Fault, Sink } from "../jsonrpc/transport.ts";
import type { TextPlatform } from "./byte-channel.ts";
import type { FrameLimits } from "./frame-limits.ts";
import {
  bytesFault,
  type FrameParser,
  frameParser,
  headChars,
  lossyHead,
  lossyTail,
  tailChars,
} from "./frame-parser.ts";
import { HeldBytes } from "./held-bytes.ts";

const newline = 0x0a;

/** What turns bytes into frames. */
export interface FrameDecoder {
  push(chunk: Uint8Array): void;
  /** Input is over: a last frame without its terminator is still read. */
  end(): void;
}

export interface DecoderSink extends Pick<Sink, "message" | "reject"> {
  /** The stream cannot be followed any further. */
  fatal(kind: "too_large" | "protocol", message: string): void;
}

export class LineDecoder implements FrameDecoder {
  readonly #sink: DecoderSink;
  readonly #limits: FrameLimits;
  readonly #platform: TextPlatform;
  readonly #parser: FrameParser;
  readonly #held = new HeldBytes();
  /** Bytes of an oversized line that have been thrown away so far; 0 when none is being drained. */
  #drained = 0;
  #drainedHead = "";
  #drainedTail: ByteTail | undefined;
  #dead = false;
  #passTo: ((lines: string) => void) | undefined;

  constructor(sink: DecoderSink, limits: FrameLimits, platform: TextPlatform) {
    this.#sink = sink;
    this.#limits = limits;
    this.#platform = platform;
    this.#parser = frameParser(sink, limits, platform.byteLength);
  }

  /** Whole lines go there from now on, unread. Those that are no UTF-8 or too large are refused as before. */
  passTo(receiver: (lines: string) => void): void {
    this.#passTo = receiver;
  }

  push(chunk: Uint8Array): void {
    if (this.#dead) return;
    const last = chunk.lastIndexOf(newline);
    if (last === -1) return this.#hold(chunk);
    let start = 0;
    if (this.#drained > 0 || this.#held.size > 0) {
      start = chunk.indexOf(newline) + 1;
      this.#endHeldLine(chunk.subarray(0, start - 1));
    }
    if (start <= last && !this.#dead) this.#lines(chunk.subarray(start, last));
    if (last + 1 < chunk.length && !this.#dead) this.#hold(chunk.subarray(last + 1));
  }

  end(): void {
    if (this.#dead) return;
    if (this.#drained > 0) return this.#endHeldLine(new Uint8Array(0));
    if (this.#held.size === 0) return;
    const bytes = this.#held.take(new Uint8Array(0));
    const text = this.#platform.decode(bytes);
    if (text === undefined) this.#sink.reject({ ...bytesFault("utf8", bytes), cutOff: true });
    else if (this.#passTo !== undefined) this.#passTo(text);
    else this.#parser.lastFrame(text);
  }

  /** A block of whole lines, without the last line end. */
  #lines(block: Uint8Array): void {
    // a line beyond twice the limit ends the stream, however it was cut
    const text = block.length > 2 * this.#limits.maxMessageBytes ? undefined : this.#platform.decode(block);
    if (text === undefined) return this.#linesOneByOne(block);
    if (this.#passTo !== undefined) return this.#passTo(`${text}\n`);
    const parser = this.#parser;
    let from = 0;
    for (let to = text.indexOf("\n"); to !== -1; to = text.indexOf("\n", from)) {
      parser.frame(text.slice(from, to));
      from = to + 1;
    }
    parser.frame(from === 0 ? text : text.slice(from));
  }

  /** Somewhere in the block is invalid UTF-8: only the lines that have it are refused. */
  #linesOneByOne(block: Uint8Array): void {
    let from = 0;
    while (from <= block.length && !this.#dead) {
      const found = block.indexOf(newline, from);
      const to = found === -1 ? block.length : found;
      this.#line(block.subarray(from, to));
      from = to + 1;
    }
  }

  #line(bytes: Uint8Array): void {
    if (bytes.length > this.#limits.maxMessageBytes) return this.#tooLarge(bytesFault("too_large", bytes));
    const text = this.#platform.decode(bytes);
    if (text === undefined) this.#sink.reject(bytesFault("utf8", bytes));
    else if (this.#passTo !== undefined) this.#passTo(`${text}\n`);
    else this.#parser.frame(text);
  }

  #hold(chunk: Uint8Array): void {
    if (this.#drained > 0) {
      this.#drained += chunk.length;
      this.#drainedTail?.push(chunk);
    } else if (this.#held.size + chunk.length <= this.#limits.maxMessageBytes) this.#held.add(chunk);
    else {
      this.#drained = this.#held.size + chunk.length;
      if (this.#held.size < headChars) this.#held.add(chunk.subarray(0, headChars));
      this.#drainedHead = lossyHead(this.#held.head(headChars));
      this.#held.clear();
      this.#drainedTail = new ByteTail(tailChars);
      this.#drainedTail.push(chunk);
    }
    if (this.#drained > 2 * this.#limits.maxMessageBytes) {
      this.#tooLarge({ kind: "too_large", bytes: this.#drained, head: "" });
    }
  }

  #endHeldLine(tail: Uint8Array): void {
    if (this.#drained === 0) return this.#line(this.#held.take(tail));
    const head = this.#drainedHead;
    const bytes = this.#drained + tail.length;
    const last = this.#drainedTail ?? new ByteTail(tailChars);
    last.push(tail);
    this.#drained = 0;
    this.#drainedHead = "";
    this.#drainedTail = undefined;
    this.#tooLarge({ kind: "too_large", bytes, head, tail: lossyTail(last.bytes) });
  }

  #tooLarge(fault: Fault): void {
    const { maxMessageBytes } = this.#limits;
    if (fault.bytes <= 2 * maxMessageBytes) return this.#sink.reject(fault);
    this.#dead = true;
    this.#sink.fatal("too_large", `a line went on beyond twice the limit of ${maxMessageBytes} bytes`);
  }
}
