// The format of stored entries, and the upgrade of older ones.

import { isObject } from "../base/objects.ts";
import { argumentText, RequestError } from "../jsonrpc/errors.ts";
import type { Entry } from "./entry.ts";
import { promptError, type WireError } from "./prompt-error.ts";

/** The format of the entries that this version writes. */
export const entryFormat = 1;

/**
 * Gives a stored entry the current format. Entries of the current format are returned as they are. A store calls it with
 * what it reads.
 *
 * @param stored The entry as it was stored, parsed.
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
export function upgradeEntry(stored: unknown): Entry {
  if (!isObject(stored)) throw new TypeError(`expected a stored entry, got ${argumentText(stored)}`);
  const { format = 0, seq } = stored;
  // as: what is stored was written by this library
  if (format === entryFormat) return stored as unknown as Entry;
  if (format === 0) return fromFormat0(stored);
  const message =
    `entry ${argumentText(seq)} of the session has format ${argumentText(format)}, and this program reads formats up ` +
    `to ${entryFormat}: update the program`;
  throw new RequestError("unavailable", message, { data: { reason: "newer_format", format } });
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

/** The same for many: the list itself when nothing in it is old. */
export function upgradeEntries(stored: readonly Entry[]): readonly Entry[] {
  return stored.every(({ format }) => format === entryFormat) ? stored : stored.map(upgradeEntry);
}
