// Finds secrets that are split over the chunks of a message or a terminal, and replaces them in the next pass.

import type { Span } from "./encoded-secrets.ts";
import { formIn } from "./secret-patterns.ts";
import type { Secrets } from "./secrets.ts";

/** How much of a line in pieces is kept to search for secrets. */
const longestLine = 4096;

interface Piece {
  readonly number: number;
  readonly text: string;
}

interface Cut {
  readonly from: number;
  readonly to: number;
  readonly mark: string;
}

interface Stream {
  /** The last pieces, at least as long as the longest secret. */
  tail: Piece[];
  /** How many characters at their end may be the beginning of an encoded secret. */
  begun: number;
  line: string;
}

export class SplitSecrets {
  readonly #secrets: Secrets;
  readonly #streams = new Map<string, Stream>();
  #count = 0;
  #cuts = new Map<number, Cut[]>();
  #found = new Map<number, Cut[]>();

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** Returns one piece of a stream without the secrets that the previous pass found. */
  piece(name: string, text: string): string {
    let stream = this.#streams.get(name);
    if (stream === undefined) {
      stream = { tail: [], begun: 0, line: "" };
      this.#streams.set(name, stream);
    }
    this.#count += 1;
    const number = this.#count;
    this.#learn(stream, text);
    this.#find(stream, { number, text });
    let clean = text;
    const cuts = this.#cuts.get(number) ?? [];
    for (const { from, to, mark } of cuts.sort((a, b) => b.from - a.from)) {
      clean = clean.slice(0, from) + mark + clean.slice(to);
    }
    return clean;
  }

  /** Starts another pass over the same pieces. */
  again(): void {
    for (const { line } of this.#streams.values()) this.#secrets.learn(line);
    this.#streams.clear();
    this.#count = 0;
    this.#cuts = this.#found;
    this.#found = new Map();
  }

  #learn(stream: Stream, text: string): void {
    const lineEnd = text.lastIndexOf("\n");
    if (lineEnd === -1) {
      stream.line = (stream.line + text).slice(-longestLine);
      return;
    }
    if (stream.line !== "") this.#secrets.learn(stream.line + text.slice(0, text.indexOf("\n")));
    stream.line = text.slice(lineEnd + 1).slice(-longestLine);
  }

  #find(stream: Stream, piece: Piece): void {
    const longest = Math.max(this.#secrets.known[0]?.form.length ?? 0, this.#secrets.encoded.reach);
    const before = stream.tail.map(({ text }) => text).join("");
    const all = before + piece.text.slice(0, longest);
    const taken: Cut[] = [];
    for (const { from, to, known } of this.#spans(all, before.length, stream.begun)) {
      if (from >= before.length || to <= before.length) continue;
      if (taken.some((other) => from < other.to && to > other.from)) continue;
      const mark = this.#secrets.markOf(known.secret);
      taken.push({ from, to, mark });
      this.#secrets.count(known.why);
      this.#cut([...stream.tail, piece], { from, to, mark });
    }
    stream.begun = this.#secrets.encoded.beginningAtEnd(
      before.slice(before.length - stream.begun) + piece.text,
    );
    stream.tail.push(piece);
    let length = stream.tail.reduce((sum, { text }) => sum + text.length, 0);
    for (let first = stream.tail[0]; first !== undefined; first = stream.tail[0]) {
      if (length - first.text.length < longest) break;
      length -= first.text.length;
      stream.tail.shift();
    }
  }

  /** The secrets that may cross `border`, which has the beginning of an encoded one before it. */
  *#spans(text: string, border: number, begun: number): Generator<Span> {
    for (const known of border === 0 ? [] : this.#secrets.known) {
      const from = formIn(text, known.form, Math.max(0, border - known.form.length + 1));
      if (from !== -1) yield { from, to: from + known.form.length, known };
    }
    if (begun === 0) return;
    const start = border - begun;
    for (const { from, to, known } of this.#secrets.encoded.spans(text.slice(start)))
      yield { from: from + start, to: to + start, known };
  }

  /** Splits a cut over the pieces: the first one gets the mark. */
  #cut(pieces: readonly Piece[], cut: Cut): void {
    let at = 0;
    let mark = cut.mark;
    for (const { number, text } of pieces) {
      const from = Math.max(cut.from - at, 0);
      const to = Math.min(cut.to - at, text.length);
      at += text.length;
      if (from >= to) continue;
      const cuts = this.#found.get(number) ?? [];
      this.#found.set(number, cuts);
      if (cuts.some((other) => from < other.to && to > other.from)) continue;
      cuts.push({ from, to, mark });
      mark = "";
    }
  }
}
