// Finds candidates for file mentions such as `@src/a.ts` in a text.

export interface Mention {
  /** Where it begins and ends in the text, `@` included. */
  readonly start: number;
  readonly end: number;
  /** As it was written, without `@` and quotes. */
  readonly path: string;
  /** `@a.ts:10-40` means these lines, `@a.ts:10` this one; counted from 1. */
  readonly lines?: { readonly first: number; readonly last: number };
}

// After a letter or digit an @ belongs to an address.
const written = /(?<![\p{L}\p{N}_@./\\])@(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'`<>|]+))/gu;
const range = /^(.*[^:]):(\d{1,9})(?:-(\d{1,9}))?$/;
/** Punctuation that may follow a name. */
const punctuation = /[.,;:!?)\]}]+$/;

/** The candidates for each @, longest first: `@a.ts.` is the file `a.ts.` if there is one, else `a.ts`. */
export function findMentions(text: string): Mention[][] {
  return [...text.matchAll(written)].map((match) => {
    const quoted = match[1] ?? match[2];
    const start = match.index;
    if (quoted !== undefined) return [{ start, end: start + match[0].length, path: quoted }];
    const word = match[3] ?? "";
    const readings = [word, word.replace(punctuation, "")].filter(
      (each, at, all) => each !== "" && all.indexOf(each) === at,
    );
    return readings.flatMap((reading) => readingsOf(reading, start));
  });
}

function readingsOf(word: string, start: number): Mention[] {
  const end = start + 1 + word.length;
  const [, path, first, last = first] = range.exec(word) ?? [];
  const whole = { start, end, path: word };
  if (path === undefined) return [whole];
  const lines = { first: Number(first), last: Number(last) };
  return lines.first < 1 || lines.last < lines.first ? [whole] : [whole, { start, end, path, lines }];
}
