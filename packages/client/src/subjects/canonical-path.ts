// Resolves the links of a path, as far as it exists.

import { realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** Never throws: what cannot be looked up stays as it is written. */
export function canonicalPath(path: string): string {
  const full = resolve(path);
  for (let existing = full; ; existing = dirname(existing)) {
    try {
      return join(realpathSync(existing), relative(existing, full));
    } catch {
      // missing or forbidden: what is above it may exist
      if (dirname(existing) === existing) return full;
    }
  }
}
