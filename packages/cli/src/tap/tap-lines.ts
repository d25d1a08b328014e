// Chunks of one stream to the records of a trace, one per line. Runs on the recorder's thread.

import { isUtf8 } from "node:buffer";
import type { TraceOutput } from "./tap-output.ts";

const newline = 0x0a;

export interface LineLimits {
  /** A longer line is kept as its beginning and its size. */
  readonly maxLineBytes: number;
  /** How much of its beginning. */
  readonly headBytes: number;
}

export class LineRecords {
  /** What stands between the time and the size: who sent it, or which event it is. */
  readonly #source: string;
  readonly #limits: LineLimits;
  readonly #output: TraceOutput;
  #parts: Buffer[] = [];
  /** Bytes of the line that is not complete yet; those beyond the limit are counted and not kept. */
  #held = 0;
  /** Whether what is held ends in a line feed. */
  #complete = false;
  /** After a gap: what comes up to the next line feed belongs to a line whose beginning is missing. */
  #resyncing = false;

  constructor(source: string, limits: LineLimits, output: TraceOutput) {
    this.#source = source;
    this.#limits = limits;
    this.#output = output;
  }

  /** The chunk is kept and must not change any more. */
  push(chunk: Buffer): void {
    let from = 0;
    if (this.#held > 0 || this.#resyncing) {
      const first = chunk.indexOf(newline);
      if (first === -1) return this.#hold(chunk);
      from = first + 1;
      if (this.#resyncing) this.#resyncing = false;
      else {
        this.#hold(chunk.subarray(0, from));
        this.#flush();
      }
    }
    const last = chunk.lastIndexOf(newline);
    if (last >= from) this.#block(chunk.subarray(from, last + 1));
    const rest = Math.max(last + 1, from);
    if (rest < chunk.length) this.#hold(chunk.subarray(rest));
  }

  /** Bytes are missing here: the line that they belong to is of no use. Says how many of it had been kept. */
  gap(): number {
    const lost = this.#held;
    this.#clear();
    this.#resyncing = true;
    return lost;
  }

  /** The stream is over: a last line without a line feed is recorded too. */
  end(): void {
    if (this.#held > 0) this.#flush();
  }

  /**
   * Whole lines: the price of a trace is mostly that of this function. The bytes are taken for Latin-1, where
   * each of them is one character that JSON.stringify leaves alone unless it must be escaped, and written as
   * Latin-1 again: UTF-8 goes through unharmed and is never decoded (a third cheaper, measured).
   */
  #block(block: Buffer): void {
    if (block.length > this.#limits.maxLineBytes || !isUtf8(block)) return this.#oneByOne(block);
    const text = block.toString("latin1");
    const prefix = `{"t":${this.#output.now},${this.#source},"bytes":`;
    let records = "";
    let count = 0;
    let from = 0;
    for (let to = text.indexOf("\n"); to !== -1; to = text.indexOf("\n", from)) {
      records += `${prefix}${to - from + 1},"text":${JSON.stringify(text.slice(from, to))}}\n`;
      count += 1;
      from = to + 1;
    }
    this.#output.addBytes(records, count);
  }

  /** Somewhere in the block is a line that is too long or is not UTF-8. */
  #oneByOne(block: Buffer): void {
    for (let from = 0; from < block.length; ) {
      const to = block.indexOf(newline, from) + 1;
      this.#line(block.subarray(from, to), { size: to - from, complete: true });
      from = to;
    }
  }

  #hold(chunk: Buffer): void {
    if (this.#resyncing) return;
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

  #flush(): void {
    const size = this.#held;
    const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#clear();
    if (bytes !== undefined) this.#line(bytes, { size, complete: this.#complete });
  }

  #clear(): void {
    this.#parts = [];
    this.#held = 0;
  }

  #line(line: Buffer, { size, complete }: { size: number; complete: boolean }): void {
    const start = `{"t":${this.#output.now},${this.#source},"bytes":${size},`;
    const end = complete ? "}" : ',"newline":false}';
    if (size > this.#limits.maxLineBytes) {
      const head = wholeCharacters(line.subarray(0, this.#limits.headBytes)).toString("utf8");
      this.#output.add(`${start}"head":${JSON.stringify(head)}${end}`);
      return;
    }
    const body = complete ? line.subarray(0, -1) : line;
    if (isUtf8(body)) this.#output.add(`${start}"text":${JSON.stringify(body.toString("utf8"))}${end}`);
    else this.#output.add(`${start}"base64":"${body.toString("base64")}"${end}`);
  }
}

/** Without the beginning of a character whose rest was cut off. */
function wholeCharacters(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 4 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return ((bytes[end - 1] ?? 0) & 0xc0) === 0xc0 ? bytes.subarray(0, end - 1) : bytes;
}
