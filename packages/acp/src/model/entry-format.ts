// The form in which stores keep entries, and the upgrade of older formats.

import { isObject } from "../base/objects.ts";
import { argumentText, RequestError } from "../jsonrpc/errors.ts";
import type { Entry } from "./entry.ts";
import { promptError, type WireError } from "./prompt-error.ts";
import type { StoredEntry } from "./store.ts";

/** The format of the entries that this version writes. */
export const entryFormat = 1;

/**
 * Writes an entry in the form that stores keep.
 *
 * @param entry The entry.
 * @returns The entry, with its content as JSON text.
 * @throws {TypeError} When JSON cannot express the content.
 * @example
 * import { type Entry, type SessionStore, storedEntry } from "@parley/acp/store";
 *
 * export async function copyTo(store: SessionStore, sessionId: string, entries: readonly Entry[]): Promise<void> {
 *   await store.append(sessionId, entries.map(storedEntry));
 * }
 */
export function storedEntry(entry: Entry): StoredEntry {
  const { format, seq, time, kind, ...rest } = entry;
  if (entry.kind !== "update") return { format, seq, time, kind, text: JSON.stringify(rest) };
  const { update } = entry;
  return { format, seq, time, kind, tag: update.sessionUpdate, text: JSON.stringify(update) };
}

/**
 * Reads an entry that a store has kept.
 *
 * @param stored The entry in its stored form.
 * @returns The entry.
 * @throws {SyntaxError} When its text is no JSON object.
 * @throws {RequestError} Of kind "unavailable", when a newer version of the library wrote the entry.
 * @example
 * import { type Entry, readEntry, type SessionStore } from "@parley/acp/store";
 *
 * export async function history(store: SessionStore, sessionId: string): Promise<Entry[]> {
 *   const entries: Entry[] = [];
 *   for await (const stored of store.entries(sessionId)) entries.push(readEntry(stored));
 *   return entries;
 * }
 */
export function readEntry(stored: StoredEntry): Entry {
  const { format, seq, time, kind, text } = stored;
  if (format !== entryFormat) throw newerFormat(seq, format);
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new SyntaxError(`the text of entry ${argumentText(seq)} is no JSON object`);
  // as, twice: what is stored was written by this library
  if (kind === "update") return { format, seq, time, kind, update: value } as unknown as Entry;
  return { format, seq, time, kind, ...value } as unknown as Entry;
}

/**
 * Gives a parsed entry, such as a line of an exported history, the current format. Entries of the current format are
 * returned as they are.
 *
 * @param parsed The parsed entry.
 * @returns The entry in the current format.
 * @throws {TypeError} When it is no object.
 * @throws {RequestError} Of kind "unavailable", when a newer version of the library wrote the entry.
 * @example
 * import { type Entry, upgradeEntry } from "@parley/acp/store";
 *
 * export function readLines(text: string): Entry[] {
 *   return text
 *     .split("\n")
 *     .filter((line) => line !== "")
 *     .map((line) => upgradeEntry(JSON.parse(line)));
 * }
 */
export function upgradeEntry(parsed: unknown): Entry {
  if (!isObject(parsed)) throw new TypeError(`expected a stored entry, got ${argumentText(parsed)}`);
  const { format = 0, seq } = parsed;
  // as: what is stored was written by this library
  if (format === entryFormat) return parsed as unknown as Entry;
  if (format === 0) return fromFormat0(parsed);
  throw newerFormat(seq, format);
}

function newerFormat(seq: unknown, format: unknown): RequestError {
  const message =
    `entry ${argumentText(seq)} of the session has format ${argumentText(format)}, and this program reads formats up ` +
    `to ${entryFormat}: update the program`;
  return new RequestError("unavailable", message, { data: { reason: "newer_format", format } });
}

/** Format 0 has no field `format`, and calls a result "outcome". The errors of its results have no kind. */
function fromFormat0(stored: Readonly<Record<string, unknown>>): Entry {
  const entry: Record<string, unknown> = { ...stored, format: entryFormat };
  if (stored["kind"] === "outcome") {
    const { outcome, ...rest } = entry;
    const { error, ...result } = outcome as { readonly error?: WireError }; // a PromptResult of that format
    const more = error === undefined ? {} : { error: promptError(error) };
    return { ...rest, kind: "result", result: { ...result, ...more } } as unknown as Entry; // as above
  }
  return entry as unknown as Entry; // as above
}
