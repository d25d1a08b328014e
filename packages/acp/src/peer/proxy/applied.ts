// Applies a change of a value in the model to the value on the wire, which may have more in it.

import { isObject } from "../../base/objects.ts";
import { extraKey } from "../../base/parley-extensions.ts";

/**
 * `original` with what differs between `before` and `after`. The two are what the library writes for the value that was read and
 * for the changed one: what it does not know is in neither, and stays.
 */
export function applied(original: unknown, before: unknown, after: unknown): unknown {
  return appliedTo(original, unfolded(before), unfolded(after));
}

/** Fields that the protocol does not have are in `_meta` where a message was read, and beside it on the wire. */
function unfolded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unfolded);
  if (!isObject(value)) return value;
  const { _meta: meta, ...fields } = value;
  const whole = Object.fromEntries(Object.entries(fields).map(([key, each]) => [key, unfolded(each)]));
  if (!isObject(meta) || !isObject(meta[extraKey]))
    return "_meta" in value ? { ...whole, _meta: meta } : whole;
  const { [extraKey]: extra, ...rest } = meta;
  return { ...extra, ...whole, ...(Object.keys(rest).length > 0 && { _meta: rest }) };
}

function appliedTo(original: unknown, before: unknown, after: unknown): unknown {
  if (isSame(before, after)) return original;
  if (isObject(original) && isObject(before) && isObject(after)) {
    const result: Record<string, unknown> = { ...original };
    for (const key of Object.keys(before)) if (after[key] === undefined) delete result[key];
    for (const [key, value] of Object.entries(after))
      if (value !== undefined) result[key] = appliedTo(original[key], before[key], value);
    return result;
  }
  if (Array.isArray(original) && Array.isArray(before) && Array.isArray(after))
    return appliedToList(original, before, after);
  return after;
}

/** Entries that are still there keep what is unknown of them; one at the same place is the same, changed. */
function appliedToList(
  original: readonly unknown[],
  before: readonly unknown[],
  after: readonly unknown[],
): unknown[] {
  const isMatched = original.length === before.length;
  const isPlaced = isMatched && before.length === after.length;
  return after.map((value, i) => {
    const at = isMatched ? before.findIndex((each) => isSame(each, value)) : -1;
    if (at !== -1) return original[at];
    return isPlaced ? appliedTo(original[i], before[i], value) : value;
  });
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
