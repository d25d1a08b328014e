// Reads and matches path patterns, which are like those of gitignore, without backtracking.

import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { canonicalPath } from "../subjects/canonical-path.ts";
import { type NamePattern, namePattern, PatternError } from "./name-pattern.ts";

export interface PathPattern {
  /** Names below the roots, at any depth or from the root on; or from the root of the file system. */
  readonly from: "anywhere" | "roots" | "system";
  readonly names: readonly (NamePattern | "**")[];
}

/** Throws PatternError for what cannot match, or would mean something else than it looks like. */
export function pathPattern(text: string): PathPattern {
  for (const [wrong, reason] of misleading) if (wrong.test(text)) throw new PatternError(reason);
  const isHome = text === "~" || text.startsWith("~/");
  const isDrive = process.platform === "win32" && /^[A-Za-z]:\//.test(text);
  const whole = isHome ? `${escapedPattern(homedir())}${text.slice(1)}` : text;
  const names = whole
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .map(partOf);
  if (isHome || isDrive || text.startsWith("/")) return { from: "system", names };
  const isName = names.length === 1 && !/\/./.test(text) && names[0] !== "**";
  return { from: isName ? "anywhere" : "roots", names };
}

const misleading: readonly (readonly [RegExp, string])[] = [
  [/\0/, "a path cannot contain a NUL character"],
  [/^['"]/, "a path needs no quotes, even if it has spaces; write \\' for a literal quote"],
  [/^!/, "! does not exclude a path; write a deny rule for the exception, or \\! for a literal !"],
  [/(?:^|\s)#/, "a comment needs a line of its own; write \\# for a literal #"],
  [
    /(?<!\\)\$[A-Za-z_{(]/,
    "variables are not replaced; write ~/ for your home directory, or \\$ for a literal $",
  ],
  [/^~[^/]/, "~ is your home directory and needs a slash after it, as in ~/notes; write \\~ for a literal ~"],
];

function partOf(part: string): NamePattern | "**" {
  if (part === "**") return part;
  if (part === "..")
    throw new PatternError("a path cannot contain ..; write it from the root of the workspace, or from /");
  if (/(?<!\\)\*\*/.test(part)) {
    const better = part.replaceAll(/\*\*+/g, "*");
    throw new PatternError(
      `** must stand alone between slashes; write **/${better} for any depth, or ${better}`,
    );
  }
  return namePattern(part);
}

/** A pattern that means exactly this path. */
export function escapedPattern(path: string): string {
  const slashed = process.platform === "win32" ? path.replaceAll("\\", "/") : path;
  return slashed.replaceAll(/[\\*?[\]{}$#!~'"()]/g, "\\$&");
}

export type PathMatcher = (path: string) => boolean;

interface Place {
  /** Canonical. */
  readonly folder: string;
  readonly names: PathPattern["names"];
}

/** `roots` are canonical. `isAllowing`: links in the workspace do not widen it. `isExact`: nor what lies below a match. */
export function pathMatcher(
  text: string,
  roots: readonly string[],
  isAllowing: boolean,
  isExact = false,
): PathMatcher {
  const places = placesOf(pathPattern(text), roots, isAllowing);
  return (path) =>
    places.some(({ folder, names }) => {
      const near = relative(folder, path);
      if (near === ".." || near.startsWith(`..${sep}`) || isAbsolute(near)) return false;
      return matchesNames(names, near === "" ? [] : near.split(sep), isExact);
    });
}

function placesOf({ from, names }: PathPattern, roots: readonly string[], isAllowing: boolean): Place[] {
  if (from === "system") {
    const written = systemPlace(names);
    if (!isAllowing) return [written, resolved(written)];
    return [belowRoot(written, roots) ?? resolved(written)];
  }
  const depth = from === "anywhere" ? (["**"] as const) : [];
  const written = roots.map((folder): Place => ({ folder, names: [...depth, ...names] }));
  return isAllowing ? written : [...written, ...roots.map((folder) => resolved({ folder, names }))];
}

function systemPlace(names: PathPattern["names"]): Place {
  const [first] = plainNames(names);
  return first !== undefined && process.platform === "win32" && /^[A-Za-z]:$/.test(first)
    ? { folder: `${first}\\`, names: names.slice(1) }
    : { folder: resolve("/"), names };
}

/** How many of the names are just names. */
function plainNames(names: PathPattern["names"]): string[] {
  const plain: string[] = [];
  for (const name of names) {
    if (name === "**" || name.literal === undefined) break;
    plain.push(name.literal);
  }
  return plain;
}

/** What is written may have links in it, as /tmp on a Mac; subjects have none. */
function resolved({ folder, names }: Place): Place {
  const plain = plainNames(names);
  return { folder: followed(join(folder, ...plain)), names: names.slice(plain.length) };
}

/** Links that lead nowhere must not keep a rule from being used. */
function followed(path: string): string {
  try {
    return canonicalPath(path);
  } catch {
    return path;
  }
}

/**
 * What allows means what it says: a workspace brings its own links, and one called `docs` that leads to everything must
 * not widen a rule for docs. Outside of the roots links are the user's own.
 */
function belowRoot({ folder, names }: Place, roots: readonly string[]): Place | undefined {
  let above = folder;
  for (const [at, name] of plainNames(names).entries()) {
    above = join(above, name);
    const root = followed(above);
    if (roots.includes(root)) return { folder: root, names: names.slice(at + 1) };
  }
  return undefined;
}

/** What is left of the path when the pattern is used up lies below it. */
function matchesNames(pattern: PathPattern["names"], names: readonly string[], isExact: boolean): boolean {
  // which beginnings of the path the pattern so far can stand for
  let reached = new Set([0]);
  for (const wanted of pattern) {
    const next = new Set<number>();
    for (const at of reached) {
      if (wanted === "**") for (let end = at; end <= names.length; end++) next.add(end);
      else if (at < names.length && wanted.matches(names[at] ?? "")) next.add(at + 1);
    }
    reached = next;
  }
  return isExact ? reached.has(names.length) : reached.size > 0;
}
