// Turns the chunks of one stream into the records of a trace, one per line.

import { isUtf8 } from "node:buffer";
import { mayHaveCredentials, withoutCredentials } from "./hidden-credentials.ts";
import type { TraceWriter } from "./trace-writer.ts";

const newline = 0x0a;

export interface LineLimits {
  /** Only the beginning and the size of a longer line are recorded. */
  readonly maxLineBytes: number;
  /** The size of that beginning. */
  readonly headBytes: number;
}

export class LineRecords {
  /** The JSON between the time and the size: the sender, or the event. */
  readonly #source: string;
  readonly #limits: LineLimits;
  readonly #writer: TraceWriter;
  #parts: Buffer[] = [];
  /** Bytes of the unfinished line, including those beyond the limit. */
  #held = 0;
  /** The held bytes end with a line feed. */
  #complete = false;
  /** After a gap: skips to the next line feed. */
  #resyncing = false;
  /** Bytes that were skipped on the way there. */
  #skipped = 0;

  constructor(source: string, limits: LineLimits, writer: TraceWriter) {
    this.#source = source;
    this.#limits = limits;
    this.#writer = writer;
  }

  /** `t` is the time as JSON. The chunk is kept and must not change any more. */
  push(t: string, chunk: Buffer): void {
    let from = 0;
    if (this.#held > 0 || this.#resyncing) {
      const first = chunk.indexOf(newline);
      if (first === -1) return this.#hold(chunk);
      from = first + 1;
      if (this.#resyncing) {
        this.#skipped += from;
        this.#resyncing = false;
      } else {
        this.#hold(chunk.subarray(0, from));
        this.end(t);
      }
    }
    const last = chunk.lastIndexOf(newline);
    if (last >= from) this.#block(t, chunk.subarray(from, last + 1));
    const rest = Math.max(last + 1, from);
    if (rest < chunk.length) this.#hold(chunk.subarray(rest));
  }

  /**
   * Bytes are missing here, so the line that they belong to is discarded. Returns how many of its bytes were held.
   * `isAtLineEnd`: the missing bytes end with a line feed.
   */
  gap(isAtLineEnd: boolean): number {
    const lost = this.#held;
    this.#clear();
    this.#resyncing = !isAtLineEnd;
    return lost;
  }

  /** The bytes that were skipped after a gap, once the skipped line or the stream has ended. */
  takeSkipped(hasEnded = false): number {
    if (this.#resyncing && !hasEnded) return 0;
    const skipped = this.#skipped;
    this.#skipped = 0;
    return skipped;
  }

  /** Records what is held as a line; at the end of the stream it may lack its line feed. */
  end(t: string): void {
    if (this.#held === 0) return;
    const size = this.#held;
    const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#clear();
    if (bytes !== undefined) this.#line(t, bytes, { size, complete: this.#complete });
  }

  /**
   * Whole lines: the cost of a trace is mostly that of this function. The bytes are read as Latin-1, where each
   * is one character that JSON.stringify leaves alone unless it must be escaped, and written as Latin-1 again:
   * UTF-8 passes unharmed and is never decoded (a third cheaper, measured).
   */
  #block(t: string, block: Buffer): void {
    if (block.length > this.#limits.maxLineBytes || mayHaveCredentials(block) || !isUtf8(block))
      return this.#oneByOne(t, block);
    const text = block.toString("latin1");
    const prefix = `{"t":${t},${this.#source},"bytes":`;
    // all lines in one call: the byte 0xff never occurs in UTF-8, and JSON does not escape it
    const lines = JSON.stringify(text.replaceAll("\n", "\xff")).slice(1, -1).split("\xff").slice(0, -1);
    let from = 0;
    const records = lines.map((line) => {
      const to = text.indexOf("\n", from) + 1;
      const size = to - from;
      from = to;
      return `${prefix}${size},"text":"${line}"}\n`;
    });
    this.#writer.add(t, Buffer.from(records.join(""), "latin1"), records.length);
  }

  /** Somewhere in the block is a line that is too long, is not UTF-8 or may have credentials. */
  #oneByOne(t: string, block: Buffer): void {
    for (let from = 0; from < block.length; ) {
      const to = block.indexOf(newline, from) + 1;
      this.#line(t, block.subarray(from, to), { size: to - from, complete: true });
      from = to;
    }
  }

  #hold(chunk: Buffer): void {
    if (this.#resyncing) {
      this.#skipped += chunk.length;
      return;
    }
    const { maxLineBytes, headBytes } = this.#limits;
    const before = this.#held;
    this.#held += chunk.length;
    if (this.#held <= maxLineBytes) this.#parts.push(chunk);
    else if (before <= maxLineBytes) {
      const missing = Math.max(0, headBytes - before);
      this.#parts = [
        Buffer.concat([...this.#parts, chunk.subarray(0, missing)], Math.min(before + missing, headBytes)),
      ];
    }
    this.#complete = chunk.at(-1) === newline;
  }

  #clear(): void {
    this.#parts = [];
    this.#held = 0;
  }

  #line(t: string, line: Buffer, { size, complete }: { size: number; complete: boolean }): void {
    const start = `{"t":${t},${this.#source},"bytes":${size},`;
    const end = complete ? "}\n" : ',"newline":false}\n';
    this.#writer.add(t, Buffer.from(`${start}${this.#content(line, size, complete)}${end}`));
  }

  #content(line: Buffer, size: number, complete: boolean): string {
    if (size > this.#limits.maxLineBytes) {
      const head = wholeCharacters(line.subarray(0, this.#limits.headBytes)).toString("utf8");
      return `"head":${JSON.stringify(withoutCredentials(head))}`;
    }
    const body = complete ? line.subarray(0, -1) : line;
    return isUtf8(body)
      ? `"text":${JSON.stringify(mayHaveCredentials(body) ? withoutCredentials(body.toString("utf8")) : body.toString("utf8"))}`
      : `"base64":"${body.toString("base64")}"`;
  }
}

/** The bytes without a last character that was cut off. */
function wholeCharacters(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 4 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return ((bytes[end - 1] ?? 0) & 0xc0) === 0xc0 ? bytes.subarray(0, end - 1) : bytes;
}
