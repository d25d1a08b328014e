// Misspelt names in what an app hands over: an optional one would be taken for nothing, without a sound.

/**
 * The first name that is not known and looks like one that is. Other names are the app's own: definitions are made by
 * spreading, and may be objects of a class, whose fields are nobody's business.
 */
export function meantKey(
  given: object,
  known: Readonly<Record<string, true>>,
): { readonly got: string; readonly meant: string } | undefined {
  const prototype: unknown = Object.getPrototypeOf(given);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  for (const got of Object.keys(given)) {
    if (Object.hasOwn(known, got)) continue;
    const meant = Object.keys(known).find((name) => isNear(got, name));
    if (meant !== undefined && !Object.hasOwn(given, meant)) return { got, meant };
  }
  return undefined;
}

/** One letter too many, missing, other, or two that changed places; capitals do not count. */
function isNear(left: string, right: string): boolean {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()];
  if (a === b) return true;
  if (Math.min(a.length, b.length) < 4) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  if (a.length !== b.length) {
    const [longer, shorter] = a.length > b.length ? [a, b] : [b, a];
    return longer.slice(start + 1) === shorter.slice(start);
  }
  if (a.slice(start + 1) === b.slice(start + 1)) return true;
  return a[start] === b[start + 1] && a[start + 1] === b[start] && a.slice(start + 2) === b.slice(start + 2);
}
