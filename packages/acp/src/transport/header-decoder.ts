// Content-Length framing, as language servers use it (L1-L3): headers, a blank line, then exactly
// so many bytes.

import { ByteTail } from "../base/byte-tail.ts";
import type { TextPlatform } from "./byte-channel.ts";
import type { FrameLimits } from "./frame-limits.ts";
import {
  bytesFault,
  type FrameParser,
  fault,
  frameParser,
  headChars,
  lossyHead,
  lossyTail,
  tailChars,
} from "./frame-parser.ts";
import { HeldBytes } from "./held-bytes.ts";
import type { DecoderSink, FrameDecoder } from "./line-decoder.ts";

const maxHeaderBytes = 8 * 1024;
const newline = 0x0a;
const carriageReturn = 0x0d;

export class HeaderDecoder implements FrameDecoder {
  readonly #sink: DecoderSink;
  readonly #limits: FrameLimits;
  readonly #platform: TextPlatform;
  readonly #parser: FrameParser;
  readonly #held = new HeldBytes();
  /** Bytes of the body that are still to come; undefined while headers are read. */
  #left: number | undefined;
  #bodyBytes = 0;
  #headers: string[] = [];
  /** Of a body that is drained. */
  #tail: ByteTail | undefined;
  #dead = false;

  constructor(sink: DecoderSink, limits: FrameLimits, platform: TextPlatform) {
    this.#sink = sink;
    this.#limits = limits;
    this.#platform = platform;
    this.#parser = frameParser(sink, limits, platform.byteLength);
  }

  push(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0 && !this.#dead) {
      rest = this.#left === undefined ? this.#readHeader(rest) : this.#readBody(rest, this.#left);
    }
  }

  end(): void {
    if (this.#dead || (this.#held.size === 0 && this.#left === undefined && this.#headers.length === 0))
      return;
    const bytes = this.#left === undefined ? this.#held.size : this.#bodyBytes - this.#left;
    this.#sink.reject({ ...fault("parse", lossyHead(this.#held.head(headChars)), bytes), cutOff: true });
  }

  /** Takes one header line, or holds what there is of it. */
  #readHeader(bytes: Uint8Array): Uint8Array {
    const end = bytes.indexOf(newline);
    const taken = end === -1 ? bytes : bytes.subarray(0, end);
    if (this.#held.size + taken.length > maxHeaderBytes || this.#headers.length > 64) {
      return this.#fail(`the headers of a message are over ${maxHeaderBytes} bytes`);
    }
    if (end === -1) {
      this.#held.add(bytes);
      return new Uint8Array(0);
    }
    const line = this.#held.take(taken);
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
    this.#bodyBytes = Number(value);
    this.#left = this.#bodyBytes;
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
    // of a message over the limit only the head is kept, everything else is drained
    else if (this.#bodyBytes <= this.#limits.maxMessageBytes) this.#held.add(taken);
    else {
      if (this.#held.size < headChars) this.#held.add(taken.subarray(0, headChars));
      this.#tail ??= new ByteTail(tailChars);
      this.#tail.push(taken);
    }
    return bytes.subarray(taken.length);
  }

  #endBody(tail: Uint8Array): void {
    this.#left = undefined;
    if (this.#bodyBytes > this.#limits.maxMessageBytes) return this.#refuseBody(tail);
    const bytes = this.#held.take(tail);
    const text = this.#platform.decode(bytes);
    if (text === undefined) this.#sink.reject(bytesFault("utf8", bytes));
    else if (text.trim() === "") this.#sink.reject(fault("parse", text, bytes.length));
    else this.#parser.frame(text);
  }

  #refuseBody(tail: Uint8Array): void {
    const last = this.#tail ?? new ByteTail(tailChars);
    this.#tail = undefined;
    last.push(tail);
    const head = lossyHead(this.#held.take(tail.subarray(0, headChars)));
    this.#sink.reject({ kind: "too_large", bytes: this.#bodyBytes, head, tail: lossyTail(last.bytes) });
  }

  #fail(message: string): Uint8Array {
    this.#dead = true;
    this.#sink.fatal("protocol", message);
    return new Uint8Array(0);
  }
}
