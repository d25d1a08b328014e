// Decodes Content-Length framing, as language servers use it: headers, a blank line, then the body.

import type { FrameLimits, TextPlatform } from "./byte-channel.ts";
import { FrameBytes } from "./frame-bytes.ts";
import { type FrameParser, fault, frameParser } from "./frame-parser.ts";
import type { DecoderSink, FrameDecoder } from "./line-decoder.ts";

const maxHeaderBytes = 8 * 1024;
const newline = 0x0a;
const carriageReturn = 0x0d;

export class HeaderDecoder implements FrameDecoder {
  readonly #sink: DecoderSink;
  readonly #limits: FrameLimits;
  readonly #platform: TextPlatform;
  readonly #parser: FrameParser;
  readonly #header = new FrameBytes();
  readonly #body: FrameBytes;
  /** Missing bytes of the body; undefined while headers are read. */
  #left: number | undefined;
  #headers: string[] = [];
  #dead = false;

  constructor(sink: DecoderSink, limits: FrameLimits, platform: TextPlatform) {
    this.#sink = sink;
    this.#limits = limits;
    this.#platform = platform;
    this.#parser = frameParser(sink, limits, platform);
    this.#body = new FrameBytes(limits.maxMessageBytes);
  }

  push(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0 && !this.#dead) {
      rest = this.#left === undefined ? this.#readHeader(rest) : this.#readBody(rest, this.#left);
    }
  }

  end(): void {
    const isInside = this.#header.size > 0 || this.#left !== undefined || this.#headers.length > 0;
    if (this.#dead || !isInside) return;
    const part = this.#left === undefined ? this.#header : this.#body;
    this.#sink.reject({ ...fault("parse", part.headText(), part.size), isCutOff: true });
  }

  /** Reads one header line, or keeps the beginning of one. Returns the remaining bytes. */
  #readHeader(bytes: Uint8Array): Uint8Array {
    const end = bytes.indexOf(newline);
    const taken = end === -1 ? bytes : bytes.subarray(0, end);
    if (this.#header.size + taken.length > maxHeaderBytes || this.#headers.length > 64) {
      return this.#fail(`the headers of a message are over ${maxHeaderBytes} bytes`);
    }
    if (end === -1) {
      this.#header.add(bytes);
      return new Uint8Array(0);
    }
    const line = this.#header.take(taken);
    const text = this.#platform.decode(line.at(-1) === carriageReturn ? line.subarray(0, -1) : line);
    if (text === undefined) return this.#fail("a header is not valid UTF-8");
    if (text !== "") this.#headers.push(text);
    // blank lines between messages are harmless, blank lines after headers end them
    else if (this.#headers.length > 0 && !this.#beginBody()) return new Uint8Array(0);
    return bytes.subarray(end + 1);
  }

  #beginBody(): boolean {
    const lengths = this.#headers.filter((header) => /^content-length\s*:/i.test(header));
    const value = lengths[0]?.slice(lengths[0].indexOf(":") + 1).trim();
    this.#headers = [];
    if (lengths.length !== 1 || value === undefined || !/^\d{1,15}$/.test(value)) {
      this.#fail("a message needs exactly one Content-Length header with a whole number");
      return false;
    }
    this.#left = Number(value);
    if (this.#left > 2 * this.#limits.maxMessageBytes) {
      this.#dead = true;
      this.#sink.fatal("too_large", `a message of ${value} bytes was announced, over twice the limit`);
      return false;
    }
    if (this.#left === 0) this.#endBody(new Uint8Array(0));
    return true;
  }

  #readBody(bytes: Uint8Array, left: number): Uint8Array {
    const taken = bytes.subarray(0, left);
    this.#left = left - taken.length;
    if (this.#left === 0) this.#endBody(taken);
    else this.#body.add(taken);
    return bytes.subarray(taken.length);
  }

  #endBody(last: Uint8Array): void {
    this.#left = undefined;
    const tooLarge = this.#body.takeFault(last);
    if (tooLarge !== undefined) return this.#sink.reject(tooLarge);
    const bytes = this.#body.take(last);
    const text = this.#parser.decode(bytes);
    if (text === undefined) return;
    if (text.trim() === "") this.#sink.reject(fault("parse", text, bytes.length));
    else this.#parser.frame(text);
  }

  #fail(message: string): Uint8Array {
    this.#dead = true;
    this.#sink.fatal("protocol", message);
    return new Uint8Array(0);
  }
}
