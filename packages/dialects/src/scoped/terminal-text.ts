// Keeps the newest output of a terminal, with the stream of each part.

export type Stream = "stdout" | "stderr" | undefined;

interface Part {
  readonly stream: Stream;
  readonly data: string;
  readonly bytes: number;
}

const utf8 = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** At most so many bytes; the oldest are dropped. */
export class TerminalText {
  readonly #limit: number;
  #parts: Part[] = [];
  #bytes = 0;
  /** Whether something was dropped. */
  isTruncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(data: string, stream: Stream): void {
    const { length } = utf8.encode(data);
    if (length === 0) return;
    this.#parts.push({ stream, data, bytes: length });
    this.#bytes += length;
    while (this.#bytes > this.#limit) this.#dropOldest(this.#bytes - this.#limit);
  }

  /** All that is kept, or that of one stream. Output of no stream counts as stdout. */
  text(stream?: "stdout" | "stderr"): string {
    const isAsked = (part: Part): boolean => stream === undefined || (part.stream ?? "stdout") === stream;
    return this.#parts
      .filter(isAsked)
      .map(({ data }) => data)
      .join("");
  }

  has(stream: "stdout" | "stderr"): boolean {
    return this.#parts.some((part) => part.stream === stream);
  }

  /** Takes the oldest output of one stream away, at most so many bytes. */
  take(most: number): { readonly data: string; readonly stream: Stream } | undefined {
    const [first] = this.#parts;
    if (first === undefined) return undefined;
    const { stream } = first;
    const buffer = new Uint8Array(most);
    let data = "";
    let room = most;
    for (let next = this.#parts[0]; next !== undefined && next.stream === stream; next = this.#parts[0]) {
      // never half a character
      const { read } = utf8.encodeInto(next.data, buffer.subarray(0, room));
      if (read === 0) break;
      data += next.data.slice(0, read);
      const written = read === next.data.length ? next.bytes : utf8.encode(next.data.slice(0, read)).length;
      room -= written;
      this.#bytes -= written;
      if (read === next.data.length) this.#parts.shift();
      else this.#parts[0] = { stream, data: next.data.slice(read), bytes: next.bytes - written };
      if (room === 0) break;
    }
    return { data, stream };
  }

  clear(): void {
    this.#parts = [];
    this.#bytes = 0;
  }

  #dropOldest(excess: number): void {
    this.isTruncated = true;
    const first = this.#parts.shift();
    if (first === undefined) return;
    this.#bytes -= first.bytes;
    if (first.bytes <= excess) return;
    const bytes = utf8.encode(first.data);
    let from = excess;
    // a character is dropped whole
    while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
    const rest = bytes.subarray(from);
    if (rest.length === 0) return;
    this.#parts.unshift({ stream: first.stream, data: decoder.decode(rest), bytes: rest.length });
    this.#bytes += rest.length;
  }
}
