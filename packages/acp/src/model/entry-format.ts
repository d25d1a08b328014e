// The form in which stores keep entries, and the upgrade of older formats.

import { isObject } from "../base/objects.ts";
import { argumentText, RequestError } from "../jsonrpc/errors.ts";
import type { Entry, EntryBody } from "./entry.ts";
import type { StoredEntry } from "./store.ts";
import { promptError, type WireError } from "./update.ts";

type Stored = Readonly<Record<string, unknown>>;

/** The format of the entries that this version writes. */
export const entryFormat = 1;

/**
 * Writes an entry in the form that stores keep.
 *
 * @param entry The entry.
 * @returns The entry, with its content as JSON text.
 * @throws {TypeError} When JSON cannot express the content.
 * @example
 * import { type Entry, type SessionStore, serializeEntry } from "@parley/acp/store";
 *
 * export async function copyTo(store: SessionStore, sessionId: string, entries: readonly Entry[]): Promise<void> {
 *   const claim = await store.claim(sessionId);
 *   await store.append(claim, 0, entries.map(serializeEntry));
 *   await store.release(claim);
 * }
 */
export function serializeEntry(entry: Entry): StoredEntry {
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
 * @throws {TypeError} When its text is not a JSON object, or lacks what its kind must have.
 * @throws {RequestError} Of kind "unavailable", when a newer version of the library wrote the entry.
 * @example
 * import { type Entry, parseEntry, type SessionStore } from "@parley/acp/store";
 *
 * export async function history(store: SessionStore, sessionId: string): Promise<Entry[]> {
 *   const entries: Entry[] = [];
 *   for await (const page of store.read(sessionId)) entries.push(...page.map(parseEntry));
 *   return entries;
 * }
 */
export function parseEntry(stored: StoredEntry): Entry {
  const { format, seq, time, kind, text }: Partial<StoredEntry> = stored; // a store may give anything
  if (typeof format === "number" && format !== entryFormat) throw newerFormat(seq, format);
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch (error) {
    throw new TypeError(`the text of entry ${argumentText(seq)} is not JSON`, { cause: error });
  }
  if (!isObject(value)) throw new TypeError(`the text of entry ${argumentText(seq)} is not a JSON object`);
  // as: the most frequent kind by far, with what checkedEntry asks for
  if (kind === "update" && typeof seq === "number" && typeof value["sessionUpdate"] === "string")
    return { format, seq, time, kind, update: value } as unknown as Entry;
  if (kind === "update") return checkedEntry({ format, seq, time, kind, update: value });
  return checkedEntry({ format, seq, time, kind, ...value });
}

/**
 * Gives a parsed entry, such as a line of an exported history, the current format. Entries of the current format are
 * returned as they are.
 *
 * @param parsed The parsed entry.
 * @returns The entry in the current format.
 * @throws {TypeError} When it is not an entry: not an object, without a number, or without what its kind must have.
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
  if (format === entryFormat) return checkedEntry(parsed);
  if (format === 0) return checkedEntry(fromFormat0(parsed));
  throw newerFormat(seq, format);
}

function newerFormat(seq: unknown, format: unknown): RequestError {
  const message =
    `entry ${argumentText(seq)} of the session has format ${argumentText(format)}, and this program reads formats up ` +
    `to ${entryFormat}: update the program`;
  return new RequestError("unavailable", message, { data: { reason: "newer_format", format } });
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
  inbox: ({ messageId, prompt }) => typeof messageId === "string" && Array.isArray(prompt),
  ask: (entry) => typeof entry["askId"] === "string" && isAnswerable(entry),
  answer: (entry) => typeof entry["askId"] === "string" && isAnswerable(entry),
  question: ({ askId, state }) => typeof askId === "string" && typeof state === "string",
  result: ({ messageId, result }) => typeof messageId === "string" && isObject(result),
  turn: ({ state }) => typeof state === "string",
  member: ({ state, author }) => typeof state === "string" && isObject(author),
  agent: ({ state }) => typeof state === "string",
  imported: ({ count }) => typeof count === "number",
  private: ({ name }) => typeof name === "string",
  extension: ({ name }) => typeof name === "string",
};

function isAnswerable({ permission, elicitation }: Stored): boolean {
  return isObject(permission) || isObject(elicitation);
}

/** Whether this version knows the kind of the entry. */
export function isKnownKind(kind: string): boolean {
  return Object.hasOwn(bodies, kind);
}

function checkedEntry(entry: Stored): Entry {
  const { seq, kind } = entry;
  const isNumbered = typeof seq === "number" && typeof kind === "string";
  const isWhole = isNumbered && (!Object.hasOwn(bodies, kind) || bodies[kind as EntryBody["kind"]](entry));
  // as: what has the fields of an entry was written by this library
  if (isWhole) return entry as unknown as Entry;
  const got = `seq: ${argumentText(seq)}, kind: ${argumentText(kind)} and the keys ${Object.keys(entry).join(", ")}`;
  throw new TypeError(
    `expected a stored entry with seq, kind and what its kind must have, got ${got.slice(0, 300)}`,
  );
}
