// The format of stored entries, and the upgrade of older ones.

import { isObject } from "../base/objects.ts";
import { argumentText, RequestError } from "../jsonrpc/errors.ts";
import type { Entry, EntryBody } from "./entry.ts";
import { promptError, type WireError } from "./prompt-error.ts";

type Stored = Readonly<Record<string, unknown>>;

/** The format of the entries that this version writes. */
export const entryFormat = 1;

/**
 * Gives a stored entry the current format. Entries of the current format are returned as they are. A store calls it with
 * what it reads.
 *
 * @param stored The entry as it was stored, parsed.
 * @returns The entry in the current format.
 * @throws {TypeError} When it is no entry: no object, without a number, or without what its kind must have.
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
  // as, twice: what has the fields of an entry was written by this library
  if (format === entryFormat) return checkedEntry(stored) as unknown as Entry;
  if (format === 0) return checkedEntry(fromFormat0(stored)) as unknown as Entry;
  const message =
    `entry ${argumentText(seq)} of the session has format ${argumentText(format)}, and this program reads formats up ` +
    `to ${entryFormat}: update the program`;
  throw new RequestError("unavailable", message, { data: { reason: "newer_format", format } });
}

/** Format 0 has no field `format`, and calls a result "outcome". The errors of its results have no kind. */
function fromFormat0(stored: Stored): Stored {
  const entry: Record<string, unknown> = { ...stored, format: entryFormat };
  if (stored["kind"] === "outcome") {
    const { outcome, ...rest } = entry;
    if (!isObject(outcome)) return { ...rest, kind: "result" };
    const { error, ...result } = outcome as { readonly error?: WireError }; // a PromptResult of that format
    const more = error === undefined ? {} : { error: promptError(error) };
    return { ...rest, kind: "result", result: { ...result, ...more } };
  }
  return entry;
}

/** What an entry of each kind must have. Other kinds are those of a newer version. */
const bodies: Readonly<Record<EntryBody["kind"], (entry: Stored) => boolean>> = {
  update: ({ update }) => isObject(update) && typeof update["sessionUpdate"] === "string",
  prompt: ({ messageId, prompt }) => typeof messageId === "string" && Array.isArray(prompt),
  ask: (entry) => typeof entry["askId"] === "string" && isAnswerable(entry),
  answer: (entry) => typeof entry["askId"] === "string" && isAnswerable(entry),
  result: ({ messageId, result }) => typeof messageId === "string" && isObject(result),
};

function isAnswerable({ permission, elicitation }: Stored): boolean {
  return isObject(permission) || isObject(elicitation);
}

/** Whether this version knows the kind of the entry. */
export function isKnownKind({ kind }: Entry): boolean {
  return Object.hasOwn(bodies, kind);
}

function checkedEntry(entry: Stored): Stored {
  const { seq, kind } = entry;
  const isNumbered = typeof seq === "number" && typeof kind === "string";
  const isWhole = isNumbered && (!Object.hasOwn(bodies, kind) || bodies[kind as EntryBody["kind"]](entry));
  if (isWhole) return entry;
  const got = `seq: ${argumentText(seq)}, kind: ${argumentText(kind)} and the keys ${Object.keys(entry).join(", ")}`;
  throw new TypeError(
    `expected a stored entry with seq, kind and what its kind must have, got ${got.slice(0, 300)}`,
  );
}

/** The same for many: the list itself when nothing in it is old. */
export function upgradeEntries(stored: readonly Entry[]): readonly Entry[] {
  let isOld = false;
  for (const entry of stored) if (upgradeEntry(entry) !== entry) isOld = true;
  return isOld ? stored.map(upgradeEntry) : stored;
}
