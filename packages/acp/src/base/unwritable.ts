// Says which part of a value JSON cannot hold.

/** The error for a value that could not be written, with the place of what JSON cannot hold. */
export function unwritableError(what: string, value: object, cause: unknown): TypeError {
  const found = unwritable(value, "", []) ?? `it cannot be written as JSON: ${String(cause)}`;
  return new TypeError(`${what}: ${found}`, { cause });
}

function unwritable(value: unknown, path: string, above: readonly unknown[]): string | undefined {
  if (typeof value === "bigint")
    return `${path} is a BigInt, which JSON does not have; pass a number or a text`;
  if (typeof value !== "object" || value === null) return undefined;
  if (above.includes(value)) return `${path} contains itself, which JSON cannot express; pass plain JSON`;
  for (const [key, inner] of Object.entries(value)) {
    const found = unwritable(inner, `${path}/${key}`, [...above, value]);
    if (found !== undefined) return found;
  }
  return undefined;
}
