// Finds the folders of tool chains that PATH needs, where the places in which they are would be hidden.

import { basename, dirname, isAbsolute, normalize } from "node:path";
import { isAtOrBelow } from "../mounts/layout.ts";

/** Folders of which the whole tree is too much. Only the entry of PATH itself is shown then. */
const shared = new Set([".local", "share", "opt", "snap"]);

/**
 * The folders to show so that the programs of PATH can start. Programs in `PREFIX/bin` and `PREFIX/shims` need what is
 * beside, such as `PREFIX/lib`, so all of PREFIX is shown.
 */
export function toolChains(
  folders: readonly string[],
  home: string,
  hidden: readonly string[],
): readonly string[] {
  // a place that is hidden as a whole is never shown as a whole
  const entries = folders.filter(
    (entry) => isAbsolute(entry) && normalize(entry) === entry && ![home, ...hidden].includes(entry),
  );
  const covered = entries.filter((entry) => hidden.some((folder) => isAtOrBelow(entry, folder)));
  return [...new Set(covered.map((entry) => prefixOf(entry, home, hidden)))];
}

function prefixOf(entry: string, home: string, hidden: readonly string[]): string {
  const parent = dirname(entry);
  const isProgramFolder = /^(?:s?bin|shims)$/.test(basename(entry));
  const isTooMuch = parent === home || hidden.includes(parent) || shared.has(basename(parent));
  return isProgramFolder && !isTooMuch ? parent : entry;
}
