// Finds known secrets that are encoded, in part or as a whole, or broken over lines.

import { decodedBeginning, decodedBytes, decodedText, mayBeEncoded } from "./decoded-text.ts";
import { shortestSecret } from "./secret-patterns.ts";

export interface KnownForm {
  readonly form: string;
  readonly secret: string;
  /** Why it is a secret. */
  readonly why: string;
}

/** Where a secret is in a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly known: KnownForm;
}

/** `\\u0041` and `&#x41;` are six characters for one. */
const longestEncoding = 6;
/** For line breaks with their indentation. */
const someBreaks = 256;

interface DecodedForm {
  readonly bytes: string;
  readonly known: KnownForm;
  /** Its own blanks may be written otherwise; in other secrets only a line break may be. */
  readonly hasBlanks: boolean;
}

export class EncodedSecrets {
  readonly #forms = new Map<string, DecodedForm>();
  #sorted: readonly DecodedForm[] | undefined;
  #byFirst: ReadonlyMap<string, readonly DecodedForm[]> | undefined;
  #longest = 0;

  add(known: KnownForm): void {
    const { text: bytes, blanks } = decodedText(known.form);
    if (bytes.length < shortestSecret) return;
    const same = this.#forms.get(bytes);
    const hasBlanks = same?.hasBlanks || blanks[0] !== blanks[bytes.length - 1];
    this.#forms.set(bytes, { bytes, known: same?.known ?? known, hasBlanks });
    this.#longest = Math.max(this.#longest, known.secret.length);
    this.#sorted = undefined;
    this.#byFirst = undefined;
  }

  /** How long the beginning of a secret can be. */
  get reach(): number {
    return this.#forms.size === 0 ? 0 : this.#longest * longestEncoding + someBreaks;
  }

  /** Longest first. */
  get #longestFirst(): readonly DecodedForm[] {
    this.#sorted ??= [...this.#forms.values()].sort((a, b) => b.bytes.length - a.bytes.length);
    return this.#sorted;
  }

  /** In the order of the text, none within another. */
  spans(text: string): Span[] {
    if (this.#forms.size === 0 || text.length < shortestSecret || !mayBeEncoded.test(text)) return [];
    const bytes = decodedBytes(text);
    const hits = this.#longestFirst.filter((form) => bytes.includes(form.bytes));
    if (hits.length === 0) return [];
    const { starts, ends, blanks } = decodedText(text);
    const isTaken = new Uint8Array(bytes.length);
    const spans: Span[] = [];
    for (const { bytes: form, known, hasBlanks } of hits) {
      let at = bytes.indexOf(form);
      while (at !== -1) {
        const last = at + form.length - 1;
        const isFree = isTaken[at] === 0 && isTaken[last] === 0;
        const isFound = isFree && (hasBlanks || blanks[at] === blanks[last]);
        if (isFound) {
          spans.push({ from: starts[at] ?? 0, to: ends[last] ?? 0, known });
          isTaken.fill(1, at, last + 1);
        }
        at = bytes.indexOf(form, isFound ? last + 1 : at + 1);
      }
    }
    return spans.sort((a, b) => a.from - b.from);
  }

  /** How many characters at the end may be the beginning of an encoded secret. */
  beginningAtEnd(text: string): number {
    if (this.#forms.size === 0) return 0;
    this.#byFirst ??= Map.groupBy(this.#forms.values(), ({ bytes }) => bytes.charAt(0));
    const tail = text.slice(-this.reach);
    const { decoded, partial } = decodedBeginning(tail);
    const { text: bytes, starts, blanks } = decoded;
    const longest = this.#longestFirst[0]?.bytes.length ?? 0;
    for (let at = Math.max(0, bytes.length - longest + 1); at < bytes.length; at++) {
      const isBegun = this.#byFirst
        .get(bytes.charAt(at))
        ?.some(
          (form) =>
            (form.hasBlanks || blanks[at] === blanks[bytes.length - 1]) &&
            form.bytes.startsWith(bytes.slice(at)),
        );
      if (isBegun) return tail.length - (starts[at] ?? 0);
    }
    return tail.length - partial;
  }
}
