// Separates long strings (images, files) from the text of entries, so that equal ones are stored once.

import { entryFormat, serializeEntry, upgradeEntry } from "../../model/entry-format.ts";
import type { StoredEntry } from "../../model/store.ts";

/** Strings and texts above this many characters are stored separately. */
const longText = 65_536;

type Path = readonly (string | number)[];

/** A separate text and its path in the entry's text; the empty path is the text itself. */
export interface LongText {
  readonly path: Path;
  readonly text: string;
}

/** A text without its long strings. */
export interface ShortText {
  readonly body: string;
  readonly longTexts: readonly LongText[];
}

const none: readonly LongText[] = [];

export function shortText(text: string): ShortText {
  if (text.length <= longText) return { body: text, longTexts: none };
  const longTexts: LongText[] = [];
  const rest = JSON.stringify(cutLongTexts(JSON.parse(text), [], longTexts));
  if (rest.length <= longText) return { body: rest, longTexts };
  return { body: "", longTexts: [{ path: [], text: rest }, ...longTexts] };
}

/** Throws a SyntaxError when the text has no place for a long string. */
export function wholeText({ body, longTexts }: ShortText): string {
  // most entries have none
  if (longTexts.length === 0) return body;
  const value: unknown = JSON.parse(longTexts.find(({ path }) => path.length === 0)?.text ?? body);
  for (const { path, text } of longTexts) if (path.length > 0) put(value, path, text);
  return JSON.stringify(value);
}

/** Reads an entry whose text is the whole entry, as the first version of the store wrote them. */
export function entryFromWhole(text: string): StoredEntry {
  const entry: unknown = JSON.parse(text);
  if (typeof entry !== "object" || entry === null || !("seq" in entry)) {
    throw new SyntaxError("it is not an entry");
  }
  const { format } = entry as { readonly format?: unknown };
  if (typeof format === "number" && format > entryFormat) {
    // only a later version can read it
    const { seq, time, kind } = entry as unknown as StoredEntry; // as: what every version has
    return { format, seq, time, kind, text };
  }
  return serializeEntry(upgradeEntry(entry));
}

/** Replaces long strings of a parsed value by "" and collects them. */
function cutLongTexts(value: unknown, path: Path, found: LongText[]): unknown {
  if (typeof value === "string" && value.length > longText) {
    found.push({ path, text: value });
    return "";
  }
  if (typeof value !== "object" || value === null) return value;
  for (const [key, inner] of Object.entries(value)) {
    const cut = cutLongTexts(inner, [...path, Array.isArray(value) ? Number(key) : key], found);
    if (cut !== inner) setOwn(value, key, cut);
  }
  return value;
}

function put(root: unknown, path: Path, text: string): void {
  let target = root;
  for (const key of path.slice(0, -1)) target = Object.getOwnPropertyDescriptor(target, key)?.value;
  const last = path.at(-1);
  if (typeof target !== "object" || target === null || last === undefined || !Object.hasOwn(target, last)) {
    throw new SyntaxError(`it has no place for the text at /${path.join("/")}`);
  }
  setOwn(target, last, text);
}

/** Unlike an assignment, works for the key `__proto__`. */
function setOwn(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
