// What a validator says when a value is wrong, and the few checks that are functions rather than generated
// lines. Only the failing path allocates: a failure is built inside out while the validators return.

/** The bits of a validator's mode. */
export const modes = {
  /** What we send: nothing is salvaged, and custom root fields are refused. */
  strict: 1,
  /** Unstable fields, tags and variants are known. */
  unstable: 2,
  /** Closed unions and enums keep an unknown string as it is. A known tag with a bad payload still fails. */
  open: 4,
  /** What the protocol says in prose: absolute paths, 1-based lines, clean strings. */
  checks: 8,
  /** What an app says itself: a value or a tag that is not known begins with an underscore (X8). */
  own: 16,
} as const;

/** Why a value was refused. Never holds the value itself. */
export class Failure {
  /** JSON pointer from the validated value, for example `/update/content/text`. */
  path: string;
  readonly expected: string;
  /** A type word, or a short literal where the type was right. */
  readonly got: string;
  /** Set when a bound was exceeded: not a mistake in shape, and never salvaged. */
  readonly limit: boolean;

  constructor(path: string, expected: string, got: string, limit = false) {
    this.path = path;
    this.expected = expected;
    this.got = got;
    this.limit = limit;
  }
}

/** No list of the protocol is this long; one that is would only cost memory. */
export const maxArrayItems = 100_000;

const literalLength = 40;

function typeWord(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

export function wrongType(path: string, expected: string, value: unknown): Failure {
  return new Failure(path, expected, typeWord(value));
}

export function wrongNumber(path: string, expected: string, value: unknown): Failure {
  return new Failure(path, expected, typeof value === "number" ? String(value) : typeWord(value));
}

export function wrongValue(path: string, expected: string, value: unknown): Failure {
  if (typeof value !== "string") return wrongType(path, expected, value);
  const short = value.length > literalLength ? `${value.slice(0, literalLength)}…` : value;
  return new Failure(path, expected, JSON.stringify(short.toWellFormed()));
}

export function tooMany(path: string, length: number): Failure {
  return new Failure(path, `at most ${maxArrayItems} items`, `${length} items`, true);
}

export function tooFew(path: string, least: number, length: number): Failure {
  return new Failure(path, `at least ${least} ${least === 1 ? "item" : "items"}`, `${length} items`);
}

/** Puts the way to the value in front of a failure's path. */
export function within(path: string, failure: Failure): Failure {
  failure.path = path + failure.path;
  return failure;
}

/** One segment of a JSON pointer. */
export function pointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Names the custom root field of an object whose keys did not add up (X2). `known` and `outer` hold field names
 * separated by blanks, with a question mark after unstable ones. Keys that hold undefined do not reach the
 * wire, and `_meta` is allowed everywhere, also where the schema forgot it.
 */
export function strayKey(
  value: Record<string, unknown>,
  mode: number,
  known: string,
  outer = "",
): Failure | undefined {
  const names = `_meta ${known} ${outer}`.split(" ");
  for (const key in value) {
    if (value[key] === undefined || names.includes(key)) continue;
    const isUnstable = names.includes(`${key}?`);
    if (isUnstable && mode & modes.unstable) continue;
    const why = isUnstable ? "it is unstable, and its method was not listed" : "custom data goes into _meta";
    return new Failure(`/${pointer(key)}`, `absent: ${why}`, typeWord(value[key]));
  }
  return undefined;
}

/** Small enough to be inlined wherever it is called. */
export function isNotObject(value: unknown): boolean {
  return typeof value !== "object" || value === null || Array.isArray(value);
}

/** `/x`, `C:\x`, `C:/x` or `\\host\share`. */
export function isAbsolutePath(path: string): boolean {
  const first = path.charCodeAt(0);
  if (first === 47) return true;
  if (first === 92) return path.charCodeAt(1) === 92 && path.length > 2;
  const third = path.charCodeAt(2);
  return path.charCodeAt(1) === 58 && (third === 92 || third === 47) && /^[A-Za-z]/.test(path);
}

const dateTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** A date and time with its offset, as RFC 3339 writes them. */
export function isDateTime(text: string): boolean {
  return dateTime.test(text) && !Number.isNaN(Date.parse(text));
}

/** Whether an operating system can take the string as it is (N015, N017). */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
