// Decodes NDJSON: one message per line, split on byte 0x0A only.

import type { Fault } from "../jsonrpc/transport.ts";
import type { FrameLimits, TextPlatform } from "./byte-channel.ts";
import { FrameBytes } from "./frame-bytes.ts";
import { bytesFault, type FrameParser, type FrameSink, frameParser } from "./frame-parser.ts";

const newline = 0x0a;

/** Splits bytes into frames. */
export interface FrameDecoder {
  push(chunk: Uint8Array): void;
  /** Ends input; a last frame without its terminator is still read. */
  end(): void;
}

export interface DecoderSink extends FrameSink {
  /** The rest of the stream cannot be decoded. */
  fatal(kind: "too_large" | "protocol", message: string): void;
}

export class LineDecoder implements FrameDecoder {
  readonly #sink: DecoderSink;
  readonly #limits: FrameLimits;
  readonly #platform: TextPlatform;
  readonly #parser: FrameParser;
  /** The line that spans chunks. */
  readonly #held: FrameBytes;
  #dead = false;

  constructor(sink: DecoderSink, limits: FrameLimits, platform: TextPlatform) {
    this.#sink = sink;
    this.#limits = limits;
    this.#platform = platform;
    this.#parser = frameParser(sink, limits, platform);
    this.#held = new FrameBytes(limits.maxMessageBytes);
  }

  push(chunk: Uint8Array): void {
    if (this.#dead) return;
    const last = chunk.lastIndexOf(newline);
    if (last === -1) return this.#hold(chunk);
    let start = 0;
    if (this.#held.size > 0) {
      start = chunk.indexOf(newline) + 1;
      this.#endHeldLine(chunk.subarray(0, start - 1));
    }
    if (start <= last && !this.#dead) this.#lines(chunk.subarray(start, last + 1));
    if (last + 1 < chunk.length && !this.#dead) this.#hold(chunk.subarray(last + 1));
  }

  end(): void {
    if (this.#dead || this.#held.size === 0) return;
    const fault = this.#held.takeFault();
    if (fault !== undefined) return this.#tooLarge(fault);
    const text = this.#parser.decode(this.#held.take(), true);
    if (text !== undefined) this.#parser.lastFrame(text);
  }

  /** A block of whole lines. */
  #lines(block: Uint8Array): void {
    // a line over twice the limit must end the stream, so large blocks are checked line by line
    const text = block.length > 2 * this.#limits.maxMessageBytes ? undefined : this.#platform.decode(block);
    if (text === undefined) return this.#linesOneByOne(block);
    const isAscii = text.length === block.length;
    const bytes = isAscii ? new DataView(block.buffer, block.byteOffset, block.length) : undefined;
    this.#parser.lines({ text, bytes, ends: undefined });
  }

  /** For a block with invalid UTF-8: only the lines that have it are refused. */
  #linesOneByOne(block: Uint8Array): void {
    let from = 0;
    while (from < block.length && !this.#dead) {
      const to = block.indexOf(newline, from);
      this.#line(block.subarray(from, to));
      from = to + 1;
    }
  }

  #line(bytes: Uint8Array): void {
    if (bytes.length > this.#limits.maxMessageBytes) return this.#tooLarge(bytesFault("too_large", bytes));
    const text = this.#parser.decode(bytes);
    if (text !== undefined) this.#parser.frame(text);
  }

  #hold(chunk: Uint8Array): void {
    this.#held.add(chunk);
    const bytes = this.#held.size;
    if (bytes > 2 * this.#limits.maxMessageBytes) this.#tooLarge({ kind: "too_large", bytes, head: "" });
  }

  #endHeldLine(last: Uint8Array): void {
    const fault = this.#held.takeFault(last);
    if (fault === undefined) this.#line(this.#held.take(last));
    else this.#tooLarge(fault);
  }

  #tooLarge(fault: Fault): void {
    const { maxMessageBytes } = this.#limits;
    if (fault.bytes <= 2 * maxMessageBytes) return this.#sink.reject(fault);
    this.#dead = true;
    this.#sink.fatal("too_large", `a line is over twice the limit of ${maxMessageBytes} bytes`);
  }
}
