// Server-sent events, from the bytes of a response to the messages in them (H12): one event, one message.
// Lines end with LF, CR or CRLF, wherever chunks are cut. A line that is no data is never kept whole, so an
// endless comment costs nothing.

import { ByteTail } from "../../base/byte-tail.ts";
import type { TextPlatform } from "../byte-channel.ts";
import type { FrameLimits } from "../frame-limits.ts";
import {
  bytesFault,
  type FrameParser,
  frameParser,
  headChars,
  lossyHead,
  lossyTail,
  tailChars,
} from "../frame-parser.ts";
import { HeldBytes } from "../held-bytes.ts";
import type { DecoderSink, FrameDecoder } from "../line-decoder.ts";

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const colon = 0x3a;
const byteOrderMark = [0xef, 0xbb, 0xbf] as const;
const lineBreak = Uint8Array.of(newline);
const none = new Uint8Array(0);
const dataField = [0x64, 0x61, 0x74, 0x61] as const; // data
/** "data:" and the space that may follow: from here on it is known what a line is. */
const dataPrefix = 6;
/** Of a line that is no data. Ids are echoed in a header, which has no room for more. */
const maxFieldBytes = 1_024;

export class EventDecoder implements FrameDecoder {
  /** The id of the last whole event, "" where the server gives none. Given back to it when the stream is opened again. */
  lastEventId = "";
  /** Whole events so far, whatever was in them. */
  events = 0;

  readonly #sink: DecoderSink;
  readonly #limits: FrameLimits;
  readonly #platform: TextPlatform;
  readonly #parser: FrameParser;
  /** How much of a byte order mark has been seen; the stream has begun when it is over. */
  #mark = 0;
  /** The last line ended with CR, so that an LF here would belong to it. */
  #afterReturn = false;
  /** What the current line is, as far as it has arrived in earlier chunks. */
  #line: "unknown" | "data" | "skipped" = "unknown";
  readonly #unknown = new HeldBytes();
  /** Of the current event: its data, as a piece of the chunk that is being read or copied. */
  #piece: Uint8Array | undefined;
  readonly #data = new HeldBytes();
  #hasData = false;
  #size = 0;
  /** Set when the data is too large and only counted. */
  #drained: { readonly head: string; readonly tail: ByteTail } | undefined;
  #isMessage = true;
  /** Undefined until this stream gives one: what is known from the one before stays. */
  #nextId: string | undefined;
  #dead = false;

  constructor(sink: DecoderSink, limits: FrameLimits, platform: TextPlatform) {
    this.#sink = sink;
    this.#limits = limits;
    this.#platform = platform;
    this.#parser = frameParser(sink, limits, platform.byteLength);
  }

  push(chunk: Uint8Array): void {
    let from = this.#mark < byteOrderMark.length ? this.#skipMark(chunk) : 0;
    let feed = chunk.indexOf(newline, from);
    let back = chunk.indexOf(carriageReturn, from);
    while (from < chunk.length && !this.#dead) {
      if (this.#afterReturn) {
        this.#afterReturn = false;
        if (chunk[from] === newline) {
          from++;
          continue;
        }
      }
      if (feed !== -1 && feed < from) feed = chunk.indexOf(newline, from);
      if (back !== -1 && back < from) back = chunk.indexOf(carriageReturn, from);
      const to = back === -1 || (feed !== -1 && feed < back) ? feed : back;
      if (to === -1) {
        this.#beginLine(chunk.subarray(from));
        break;
      }
      this.#afterReturn = to === back;
      this.#endLine(chunk.subarray(from, to));
      from = to + 1;
    }
    this.#keepPiece();
  }

  /** An event that has not ended is none (and was cut off). */
  end(): void {
    if (this.#dead || !this.isInsideEvent) return;
    this.#dead = true;
    const bytes = this.#size + this.#unknown.size;
    this.#sink.reject({ kind: "parse", bytes, head: lossyHead(this.#data.head(headChars)), cutOff: true });
  }

  /** Whether input would be lost if it ended here. */
  get isInsideEvent(): boolean {
    return this.#hasData || this.#unknown.size > 0;
  }

  /** Where the stream begins, without a byte order mark; the mark may come in pieces. */
  #skipMark(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && this.#mark < byteOrderMark.length) {
      if (chunk[at] !== byteOrderMark[this.#mark]) {
        // what looked like one belongs to the first line
        if (this.#mark > at) this.#beginLine(Uint8Array.from(byteOrderMark.slice(0, this.#mark - at)));
        const begins = Math.max(0, at - this.#mark);
        this.#mark = byteOrderMark.length;
        return begins;
      }
      at++;
      this.#mark++;
    }
    return at;
  }

  /** A part of a line whose end has not arrived. */
  #beginLine(part: Uint8Array): void {
    if (this.#line === "data") return this.#append(part);
    if (this.#line === "skipped") return;
    const held = this.#unknown;
    held.add(part);
    const head = held.head(dataPrefix);
    if (head[0] === colon) this.#line = "skipped";
    else if (isData(head)) {
      if (held.size < dataPrefix) return;
      this.#line = "data";
      this.#beginData();
      this.#append(afterColon(held.take(none), dataField.length));
    } else if (held.size > maxFieldBytes) this.#line = "skipped";
    if (this.#line !== "unknown") held.clear();
  }

  #endLine(tail: Uint8Array): void {
    const line = this.#line;
    this.#line = "unknown";
    if (line === "data") this.#append(tail);
    else if (line === "unknown") this.#field(this.#unknown.size === 0 ? tail : this.#unknown.take(tail));
  }

  #field(line: Uint8Array): void {
    if (line.length === 0) return this.#dispatch();
    if (isData(line)) return this.#dataLine(afterColon(line, dataField.length));
    if (line[0] === colon || line.length > maxFieldBytes) return;
    const text = this.#platform.decode(line) ?? "";
    const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(text) ?? [];
    // an id with a NUL is none (and could not be sent back)
    if (name === "id" && !value.includes("\0")) this.#nextId = value;
    if (name === "event") this.#isMessage = value === "" || value === "message";
  }

  /** Nearly always the only one of its event, whose end is in the same chunk: then nothing is copied. */
  #dataLine(value: Uint8Array): void {
    const isOnly = !this.#hasData;
    this.#beginData();
    if (!isOnly || value.length > this.#limits.maxMessageBytes) return this.#append(value);
    this.#piece = value;
    this.#size = value.length;
  }

  /** The lines of one event are joined with LF. */
  #beginData(): void {
    if (this.#hasData) this.#append(lineBreak);
    this.#hasData = true;
  }

  #append(bytes: Uint8Array): void {
    if (this.#dead) return;
    this.#keepPiece();
    const { maxMessageBytes } = this.#limits;
    this.#size += bytes.length;
    if (this.#size > 2 * maxMessageBytes) {
      this.#dead = true;
      this.#data.clear();
      const message = `an event went on beyond twice the limit of ${maxMessageBytes} bytes`;
      return this.#sink.fatal("too_large", message);
    }
    if (this.#drained === undefined && this.#size > maxMessageBytes) {
      if (this.#data.size < headChars) this.#data.add(bytes.subarray(0, headChars));
      this.#drained = { head: lossyHead(this.#data.head(headChars)), tail: new ByteTail(tailChars) };
      this.#data.clear();
    }
    if (this.#drained === undefined) this.#data.add(bytes);
    else this.#drained.tail.push(bytes);
  }

  /** The chunk may be used again by whoever read it. */
  #keepPiece(): void {
    if (this.#piece === undefined) return;
    this.#data.add(this.#piece);
    this.#piece = undefined;
  }

  /** An empty line ends an event. */
  #dispatch(): void {
    this.lastEventId = this.#nextId ?? this.lastEventId;
    if (!this.#hasData) {
      this.#isMessage = true;
      return;
    }
    const [bytes, size, drained, isMessage] = [
      this.#piece ?? this.#data.take(none),
      this.#size,
      this.#drained,
      this.#isMessage,
    ];
    this.#piece = undefined;
    this.#hasData = false;
    this.#size = 0;
    this.#drained = undefined;
    this.#isMessage = true;
    this.events++;
    if (!isMessage) return;
    if (drained !== undefined) {
      const { head, tail } = drained;
      return this.#sink.reject({ kind: "too_large", bytes: size, head, tail: lossyTail(tail.bytes) });
    }
    const text = this.#platform.decode(bytes);
    if (text === undefined) this.#sink.reject(bytesFault("utf8", bytes));
    else this.#parser.frame(text);
  }
}

function isData(line: Uint8Array): boolean {
  return (
    dataField.every((byte, at) => line[at] === byte) &&
    (line.length === dataField.length || line[dataField.length] === colon)
  );
}

/** The value of a field; one space after the colon is no part of it. */
function afterColon(line: Uint8Array, nameLength: number): Uint8Array {
  const begins = nameLength + 1;
  return line.subarray(line[begins] === space ? begins + 1 : begins);
}
