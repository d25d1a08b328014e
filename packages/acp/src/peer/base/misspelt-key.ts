// Finds a misspelt key in what an app passes: an optional one would otherwise be silently ignored.

import { editDistance } from "../../base/nearest-word.ts";

/**
 * The first key that is not known and looks like one that is. Other keys are allowed: definitions are made by
 * spreading, and may be instances of a class with fields of its own.
 */
export function misspeltKey(
  given: object,
  known: Readonly<Record<string, true>>,
): { readonly got: string; readonly wanted: string } | undefined {
  const prototype: unknown = Object.getPrototypeOf(given);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  for (const got of Object.keys(given)) {
    if (Object.hasOwn(known, got)) continue;
    const wanted = Object.keys(known).find((key) => isNear(got, key));
    if (wanted !== undefined && !Object.hasOwn(given, wanted)) return { got, wanted };
  }
  return undefined;
}

/** At most one letter differs, or two are swapped. Case does not count. */
function isNear(left: string, right: string): boolean {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()];
  return a === b || (Math.min(a.length, b.length) >= 4 && editDistance(a, b) <= 1);
}
