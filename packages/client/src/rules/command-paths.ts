// Finds the files that the words of a command name.

import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { canonicalPath, longestPath } from "../subjects/canonical-path.ts";
import { commandsOf } from "../subjects/inner-commands.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { namePattern } from "./name-pattern.ts";

/** As many names are looked up: each costs a look at the disk. */
const maxNames = 4_000;
/** So many of the folders that a command names it may go to before it looks for the others. */
const maxFolders = 4;
const maxBraces = 500;

/** How many folders may still be read for stars. */
interface Looks {
  left: number;
}

/**
 * Canonical, resolved from the directory of the command and from the folders that it names; undefined: it cannot be told.
 * Stars and braces are read as shells do. What is in a variable is not known here.
 *
 * @throws {RequestError} "permission_denied" When a word leads through too many links.
 */
export function pathsInCommand(subject: RuleSubject, root: string): readonly string[] | undefined {
  const cwd = canonicalPath(subject.cwd ?? root);
  const names = namesOf(subject, cwd);
  if (names === undefined) return undefined;
  const isLine = subject.shellLine !== undefined;
  const found = new Set<string>();
  const folders = [cwd];
  const looks = { left: 500 };
  // what is named from a folder may be a folder, too
  for (const folder of folders) {
    for (const name of names) {
      if (folder !== cwd && isAbsolute(name)) continue;
      const matches = isLine ? matchesOf(name, folder, looks) : [name];
      for (const each of matches ?? []) found.add(canonicalPath(each, folder));
      if (matches === undefined || found.size > maxNames) return undefined;
    }
    if (isLine && names.size * folders.length < maxNames) folders.push(...foldersIn(found, folders));
  }
  return [...found];
}

/** Undefined: it cannot be told. */
function namesOf(subject: RuleSubject, cwd: string): ReadonlySet<string> | undefined {
  const words = commandsOf(subject)?.flatMap(({ words: [program = "", ...rest], files }) => [
    ...(/[\\/]/.test(program) ? [program] : []),
    ...rest,
    ...files,
  ]);
  if (words === undefined) return undefined;
  const names = new Set<string>();
  for (const word of [...words, ...Object.values(subject.env ?? {})]) {
    for (const name of namesIn(word, cwd))
      if (name !== "" && !name.startsWith("-") && name.length <= longestPath) names.add(name);
    if (names.size > maxNames) return undefined;
  }
  return names;
}

/** Those of the paths that are folders and not among the known ones. */
function foldersIn(paths: ReadonlySet<string>, known: readonly string[]): string[] {
  const more = Math.max(0, maxFolders - known.length);
  return [...paths].filter((path) => !known.includes(path) && isFolder(path)).slice(0, more);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Links of the system that lead every process to its own folder. */
const ownFolder = /^\/+proc\/+(?:[^/]+\/+){1,3}cwd(?=\/|$)/;
const ownRoot = /^\/+proc\/+(?:[^/]+\/+){1,3}root(?=\/|$)/;

/** `--file=x`, `if=x`, `@x`, `f=@x`, `host:x`, `-fx`, `~/x` */
function namesIn(word: string, cwd: string): string[] {
  const [, glued = ""] = /^-\w(.+)$/s.exec(word) ?? [];
  const parts = [word, glued, ...(/[=@:,]/.test(word) ? word.split(/[=@:,]/, maxNames + 1) : [])];
  return parts.flatMap((part) => {
    const read = part
      .replace(/^~\+(?=\/|$)/, "$PWD")
      .replace(/^~(?=\/|$)/, "$HOME")
      .replaceAll(/\$(?:HOME\b|\{HOME\})/g, () => homedir())
      .replaceAll(/\$(?:PWD\b|\{PWD\})/g, () => cwd)
      .replace(ownRoot, "/.")
      .replace(ownFolder, () => cwd);
    return read === part ? [part] : [part, read];
  });
}

/** The name itself, and what a shell would make of its stars and braces. Undefined: that is too much to look at. */
function matchesOf(name: string, folder: string, looks: Looks): readonly string[] | undefined {
  if (!/[*?[{]/.test(name)) return [name];
  // only the shell counts letters
  if (/\{[A-Za-z]\.\.[A-Za-z]/.test(name)) return undefined;
  const found = [name];
  const all = bracesOf(name);
  if (all === undefined) return undefined;
  for (const each of all) {
    const matches = starsOf(each, folder, looks);
    if (matches === undefined) return undefined;
    found.push(each, ...matches);
  }
  return found;
}

/** Undefined: there are too many. */
function bracesOf(name: string): readonly string[] | undefined {
  const all = [name];
  for (let at = 0; at < all.length; at++) {
    const parts = firstBraces(all[at] ?? "");
    if (parts !== undefined) all.splice(at--, 1, ...parts);
    if (all.length > maxBraces) return undefined;
  }
  return all;
}

/** `a{b,c}d`, the innermost first. Undefined: there are none. */
function firstBraces(name: string): readonly string[] | undefined {
  for (const { 0: whole, 1: inside = "", index } of name.matchAll(/\{([^{}]*,[^{}]*)\}/g))
    return inside
      .split(",")
      .map((part) => `${name.slice(0, index)}${part}${name.slice(index + whole.length)}`);
  return undefined;
}

function starsOf(name: string, folder: string, looks: Looks): readonly string[] | undefined {
  if (!/[*?[]/.test(name)) return [];
  let found = [isAbsolute(name) ? "/" : folder];
  for (const part of name.split("/").filter((each) => each !== "")) {
    const isPattern = /[*?[]/.test(part);
    if (isPattern) looks.left -= found.length;
    if (looks.left < 0) return undefined;
    found = isPattern
      ? found.flatMap((each) => entriesOf(each, part)).slice(0, maxNames + 1)
      : found.map((each) => `${each}/${part}`);
  }
  return found;
}

/** A pattern that cannot be read stands for itself. */
function entriesOf(folder: string, part: string): string[] {
  try {
    const { matches } = namePattern(part.replaceAll(/[{}]/g, "\\$&"));
    return readdirSync(folder)
      .filter((name) => matches(name))
      .map((name) => join(folder, name));
  } catch {
    return [`${folder}/${part}`];
  }
}
