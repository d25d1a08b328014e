// Decodes server-sent events: one message per event.

import type { FrameLimits, TextPlatform } from "../byte-channel.ts";
import { FrameBytes } from "../frame-bytes.ts";
import { type FrameParser, frameParser } from "../frame-parser.ts";
import type { DecoderSink, FrameDecoder } from "../line-decoder.ts";

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const colon = 0x3a;
const byteOrderMark = [0xef, 0xbb, 0xbf] as const;
const lineBreak = Uint8Array.of(newline);
const dataField = [0x64, 0x61, 0x74, 0x61] as const; // data
/** Length of "data: ", after which the kind of a line is known. */
const dataPrefix = 6;
/** The limit for a line other than data. Ids are sent back in a header, so longer ones are useless. */
const maxFieldBytes = 1_024;

let encoder: TextEncoder | undefined;

export class EventDecoder implements FrameDecoder {
  /** The id of the last complete event, "" if none; sent when the stream is reopened. */
  lastEventId = "";
  /** Complete events so far. */
  events = 0;

  readonly #sink: DecoderSink;
  readonly #limits: FrameLimits;
  readonly #platform: TextPlatform;
  readonly #parser: FrameParser;
  /** Bytes of the byte order mark seen so far; its length once the stream has begun. */
  #mark = 0;
  /** The last line ended with CR: an LF that follows belongs to it. */
  #afterReturn = false;
  /** The kind of the current line, as far as it is known. */
  #line: "unknown" | "data" | "skipped" = "unknown";
  readonly #unknown = new FrameBytes();
  /** The data of the current event: a part of the current chunk, or a copy. */
  #piece: Uint8Array | undefined;
  readonly #data: FrameBytes;
  #hasData = false;
  #isMessage = true;
  /** Undefined until this stream sends one: the id of the previous stream stays valid. */
  #nextId: string | undefined;
  #dead = false;

  constructor(sink: DecoderSink, limits: FrameLimits, platform: TextPlatform) {
    this.#sink = sink;
    this.#limits = limits;
    this.#platform = platform;
    this.#parser = frameParser(sink, limits, platform);
    this.#data = new FrameBytes(limits.maxMessageBytes);
  }

  push(chunk: Uint8Array): void {
    let from = this.#mark < byteOrderMark.length ? this.#skipMark(chunk) : 0;
    let mayReadWhole = true;
    let feed = -2;
    while (from < chunk.length && !this.#dead) {
      // several times as fast as line by line
      if (mayReadWhole && this.#isBetweenEvents) {
        mayReadWhole = false;
        from = this.#readWhole(chunk, from);
        continue;
      }
      if (this.#afterReturn) {
        this.#afterReturn = false;
        if (chunk[from] === newline) {
          from++;
          continue;
        }
      }
      if (feed !== -1 && feed < from) feed = chunk.indexOf(newline, from);
      // not further than the line: most chunks have no CR, and to find that out takes as long as the rest
      const back = chunk.subarray(from, feed === -1 ? chunk.length : feed).indexOf(carriageReturn);
      const to = back === -1 ? feed : from + back;
      if (to === -1) {
        this.#beginLine(chunk.subarray(from));
        break;
      }
      this.#afterReturn = back !== -1;
      this.#endLine(chunk.subarray(from, to));
      from = to + 1;
    }
    this.#keepPiece();
  }

  /** Reports an incomplete event as cut off. */
  end(): void {
    if (this.#dead || !this.isInsideEvent) return;
    this.#dead = true;
    const bytes = this.#data.size + this.#unknown.size;
    this.#sink.reject({ kind: "parse", bytes, head: this.#data.headText(), isCutOff: true });
  }

  /** Whether an event is incomplete. */
  get isInsideEvent(): boolean {
    return this.#hasData || this.#unknown.size > 0;
  }

  /** Whether nothing of the next event has come. */
  get #isBetweenEvents(): boolean {
    return (
      this.#line === "unknown" &&
      !this.#hasData &&
      this.#isMessage &&
      this.#unknown.size === 0 &&
      !this.#afterReturn
    );
  }

  /** Reads the events that are whole in this chunk. Returns where the rest begins. */
  #readWhole(chunk: Uint8Array, from: number): number {
    let last = chunk.lastIndexOf(newline);
    while (last > from && chunk[last - 1] !== newline) last = chunk.lastIndexOf(newline, last - 1);
    const end = last + 1;
    if (last <= from || end - from > this.#limits.maxMessageBytes) return from;
    const text = this.#platform.decode(chunk.subarray(from, end));
    // only the events with invalid UTF-8 are refused; a line may end with CR
    if (text === undefined || text.includes("\r")) return from;
    let at = 0;
    while (at < text.length && !this.#dead) {
      const next = this.#readUsual(text, at);
      if (next !== undefined) {
        at = next;
        continue;
      }
      const border = text.indexOf("\n\n", at);
      // of an odd number of line feeds, the last one is left
      const to = border === -1 ? text.length : border + 2;
      this.#readLines(text.slice(at, to));
      at = to;
    }
    return end;
  }

  /** Reads an event of one data line, behind its id if it has one, as servers nearly always write them. Returns where it ends. */
  #readUsual(text: string, at: number): number | undefined {
    let data = at;
    let id: string | undefined;
    if (text.startsWith("id: ", at)) {
      data = text.indexOf("\n", at) + 1;
      id = text.slice(at + 4, data - 1);
      if (id.length > maxFieldBytes / 4 || id.includes("\0")) return undefined;
    }
    if (!text.startsWith("data: ", data)) return undefined;
    const end = text.indexOf("\n", data);
    if (text.charCodeAt(end + 1) !== newline) return undefined;
    if (id !== undefined) this.#nextId = id;
    this.lastEventId = this.#nextId ?? this.lastEventId;
    this.events++;
    this.#parser.frame(text.slice(data + dataPrefix, end));
    return end + 2;
  }

  /** Any other event, line by line. */
  #readLines(text: string): void {
    encoder ??= new TextEncoder();
    for (const line of text.split("\n").slice(0, -1)) this.#field(encoder.encode(line));
  }

  /** Returns where the text begins after a byte order mark, which may be split over chunks. */
  #skipMark(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && this.#mark < byteOrderMark.length) {
      if (chunk[at] !== byteOrderMark[this.#mark]) {
        // not a mark: its bytes belong to the first line
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

  /** Takes a part of a line whose end has not arrived. */
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
      this.#append(afterColon(held.take(), dataField.length));
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
    // the standard ignores ids with a NUL
    if (name === "id" && !value.includes("\0")) this.#nextId = value;
    if (name === "event") this.#isMessage = value === "" || value === "message";
  }

  /** Nearly always the only data line of its event, which ends in the same chunk: then nothing is copied. */
  #dataLine(value: Uint8Array): void {
    const isOnly = !this.#hasData;
    this.#beginData();
    if (!isOnly || value.length > this.#limits.maxMessageBytes) return this.#append(value);
    this.#piece = value;
  }

  /** The lines of one event are joined with LF. */
  #beginData(): void {
    if (this.#hasData) this.#append(lineBreak);
    this.#hasData = true;
  }

  #append(bytes: Uint8Array): void {
    if (this.#dead) return;
    this.#keepPiece();
    this.#data.add(bytes);
    const { maxMessageBytes } = this.#limits;
    if (this.#data.size <= 2 * maxMessageBytes) return;
    this.#dead = true;
    this.#data.clear();
    this.#sink.fatal("too_large", `an event is over twice the limit of ${maxMessageBytes} bytes`);
  }

  /** Copies the data, because the chunk may be reused. */
  #keepPiece(): void {
    if (this.#piece === undefined) return;
    this.#data.add(this.#piece);
    this.#piece = undefined;
  }

  /** Called at an empty line, which ends an event. */
  #dispatch(): void {
    this.lastEventId = this.#nextId ?? this.lastEventId;
    const isMessage = this.#isMessage;
    this.#isMessage = true;
    if (!this.#hasData) return;
    const fault = this.#data.takeFault();
    const bytes = this.#piece ?? this.#data.take();
    this.#piece = undefined;
    this.#hasData = false;
    this.events++;
    if (!isMessage) return;
    if (fault !== undefined) return this.#sink.reject(fault);
    const text = this.#parser.decode(bytes);
    if (text !== undefined) this.#parser.frame(text);
  }
}

function isData(line: Uint8Array): boolean {
  return (
    dataField.every((byte, at) => line[at] === byte) &&
    (line.length === dataField.length || line[dataField.length] === colon)
  );
}

/** The value of a field, without one space after the colon. */
function afterColon(line: Uint8Array, nameLength: number): Uint8Array {
  const begins = nameLength + 1;
  return line.subarray(line[begins] === space ? begins + 1 : begins);
}
