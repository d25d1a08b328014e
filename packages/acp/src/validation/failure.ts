// The failures of validators, and the checks that are not generated.

import { extensionIn, extraKey, withoutExtension } from "../base/parley-extensions.ts";
import { featureBits } from "./features.gen.ts";
import { featureMode, unstableFeatures } from "./unstable-features.ts";

/** The bits of a validator's mode. */
export const modes = {
  /** For sending: nothing is repaired, and custom root fields are refused. */
  strict: 1,
  /** For the model: a null that means the same as nothing is removed. It stays where it clears a value. */
  nulls: 2,
  /** Closed unions and enums accept unknown strings. A known tag with a bad payload still fails. */
  open: 4,
  /** Rules outside the schema: absolute paths, 1-based lines, clean strings. */
  checks: 8,
  /** For an app's own values: unknown values and tags must begin with an underscore. */
  own: 16,
  /** For relays: a field that the protocol does not have moves into `_meta`, under `extraKey`. */
  extras: 2 ** 30,
  /** All unstable fields, tags and variants are enabled. `featureMode` enables those of one feature. */
  unstable: featureMode("*"),
} as const;

/** Why a value was refused. Never contains the value itself. */
export class Failure {
  /** JSON pointer from the validated value, for example `/update/content/text`. */
  path: string;
  readonly expected: string;
  /** A type, or a short literal if the type was right. */
  readonly got: string;
  /** Whether a limit was exceeded, which is never repaired. */
  readonly limit: boolean;

  constructor(path: string, expected: string, got: string, limit = false) {
    this.path = path;
    this.expected = expected;
    this.got = got;
    this.limit = limit;
  }
}

/** Far above any list of the protocol. */
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

/**
 * As `wrongValue`, for the tag of a union. `features` lists the tags of unstable variants, each with its feature, as
 * `plan_removed=plans`.
 */
export function wrongTag(path: string, expected: string, tag: unknown, features: string): Failure {
  const unstable = features.split(" ").find((each) => each.startsWith(`${String(tag)}=`));
  if (unstable === undefined) return wrongValue(path, expected, tag);
  return wrongValue(path, `a stable kind, or enabled by unstable: ["${unstable.split("=")[1]}"]`, tag);
}

export function tooMany(path: string, length: number): Failure {
  return new Failure(path, `at most ${maxArrayItems} items`, `${length} items`, true);
}

export function tooFew(path: string, least: number, length: number): Failure {
  return new Failure(path, `at least ${least} ${least === 1 ? "item" : "items"}`, `${length} items`);
}

/** Prefixes a failure's path. */
export function within(path: string, failure: Failure): Failure {
  failure.path = path + failure.path;
  return failure;
}

/** One segment of a JSON pointer. */
export function pointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Finds the custom root field of an object with too many keys, or moves all of them into `_meta`, as the mode says.
 * `known` and `outer` are field names separated by spaces; an unstable one is followed by its feature, as
 * `usage?usage`. Undefined values are ignored, and `_meta` is always allowed.
 */
export function strayKey(
  value: Record<string, unknown>,
  mode: number,
  known: string,
  outer = "",
): Failure | undefined {
  const names = `_meta ${known} ${outer}`.split(" ");
  const extra: [string, unknown][] = [];
  for (const key in value) {
    if (value[key] === undefined || names.includes(key)) continue;
    const unstable = names.find((name) => name.startsWith(`${key}?`));
    const feature = unstableFeatures.find((each) => unstable === `${key}?${each}`);
    if (feature !== undefined && mode & featureBits[feature]) continue;
    if (mode & modes.extras) {
      extra.push([key, value[key]]);
      continue;
    }
    const why =
      feature === undefined
        ? "custom data goes into _meta"
        : `it is unstable and not enabled; enable it with unstable: ["${feature}"]`;
    return new Failure(`/${pointer(key)}`, `absent: ${why}`, typeWord(value[key]));
  }
  if (extra.length > 0) moveIntoMeta(value, extra);
  return undefined;
}

/** Another relay may have moved others before. Entries keep `__proto__` a plain field. */
function moveIntoMeta(value: Record<string, unknown>, extra: readonly [string, unknown][]): void {
  for (const [key] of extra) delete value[key];
  const meta = value["_meta"] as Record<string, unknown> | null | undefined; // checked before
  const before = extensionIn(meta, extraKey);
  const moved = Object.fromEntries([
    ...(isNotObject(before) ? [] : Object.entries(before as object)),
    ...extra,
  ]);
  value["_meta"] = { ...(meta && withoutExtension(meta, extraKey)), [extraKey]: moved };
}

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

/** Whether the text is an RFC 3339 date and time with offset. */
export function isDateTime(text: string): boolean {
  return dateTime.test(text) && !Number.isNaN(Date.parse(text));
}

/** Whether an operating system accepts the string: no NUL, no lone surrogates. */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
