// Matches path patterns, without backtracking.

import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { canonicalPath } from "../subjects/canonical-path.ts";

/** `roots` are canonical. A pattern that is not absolute is looked for below each of them. */
export function matchesPath(
  pattern: string,
  path: string,
  roots: readonly string[],
  isAllowing: boolean,
): boolean {
  const full = pattern === "~" || pattern.startsWith("~/") ? join(homedir(), pattern.slice(1)) : pattern;
  const bases = isAbsolute(full) ? [full] : roots.map((root) => resolve(root, full));
  return bases.some((base) => {
    const place = isAllowing ? placeBelowRoot(base, roots) : undefined;
    if (place === undefined) return matchesNames(namesOf(canonicalPattern(base)), namesOf(path));
    const near = relative(place.root, path);
    return (
      near !== ".." &&
      !near.startsWith(`..${sep}`) &&
      !isAbsolute(near) &&
      matchesNames(namesOf(place.rest), namesOf(near))
    );
  });
}

/**
 * What allows means what it says: a workspace brings its own links, and one called `docs` that leads to everything must
 * not widen a rule for docs. Outside of the roots links are the user's own.
 */
function placeBelowRoot(
  pattern: string,
  roots: readonly string[],
): { readonly root: string; readonly rest: string } | undefined {
  const above: string[] = [];
  for (let folder = pattern; folder !== dirname(folder); folder = dirname(folder)) above.unshift(folder);
  for (const folder of above) {
    const root = /[*?]/.test(folder) && !roots.includes(folder) ? undefined : canonicalPath(folder);
    if (root !== undefined && roots.includes(root)) return { root, rest: relative(folder, pattern) };
  }
  return undefined;
}

// Subjects are canonical; what is written is not, as /tmp is not on a Mac.
function canonicalPattern(pattern: string): string {
  const star = pattern.search(/[*?]/);
  if (star < 0) return canonicalPath(pattern);
  const cut = Math.max(pattern.lastIndexOf("/", star), pattern.lastIndexOf("\\", star));
  return cut <= 0 ? pattern : join(canonicalPath(pattern.slice(0, cut)), pattern.slice(cut + 1));
}

// Where names that differ in case mean the same file, a rule must not be got around by writing them differently.
const folds = process.platform === "darwin" || process.platform === "win32";

function namesOf(path: string): string[] {
  const folded = folds ? path.normalize("NFC").toLowerCase() : path;
  return folded.split(process.platform === "win32" ? /[\\/]/ : "/").filter((name) => name !== "");
}

/** What is left of the path when the pattern is used up lies below it. */
function matchesNames(pattern: readonly string[], names: readonly string[]): boolean {
  // which beginnings of the path the pattern so far can stand for
  let reached = new Set([0]);
  for (const wanted of pattern) {
    const next = new Set<number>();
    for (const at of reached) {
      if (wanted === "**") for (let end = at; end <= names.length; end++) next.add(end);
      else if (at < names.length && matchesName(wanted, names[at] ?? "")) next.add(at + 1);
    }
    reached = next;
  }
  return reached.size > 0;
}

function matchesName(wanted: string, name: string): boolean {
  let [at, from, star, restart] = [0, 0, -1, 0];
  while (at < name.length) {
    if (from < wanted.length && (wanted[from] === "?" || wanted[from] === name[at]) && wanted[from] !== "*") {
      from++;
      at++;
    } else if (wanted[from] === "*") {
      star = from++;
      restart = at;
    } else if (star >= 0) {
      from = star + 1;
      at = ++restart;
    } else return false;
  }
  while (wanted[from] === "*") from++;
  return from === wanted.length;
}
