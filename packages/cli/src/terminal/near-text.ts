// Shortens paths below the folder of a session.

import { realpathSync } from "node:fs";

/** Paths in the text that are below `cwd`, or below what it links to, relative to it. `(CWD) ` of a rule is left out. */
export function nearText(text: string, cwd: string): string {
  let near = text;
  for (const folder of foldersOf(cwd))
    near = near
      .replaceAll(`(${folder}) `, "")
      .replaceAll(new RegExp(`(^|[\\s("'=:])${escaped(folder)}/(?=[^\\s/])`, "g"), "$1");
  return near;
}

/** A folder below `cwd` relative to it; undefined if it is that folder itself. */
export function nearFolder(path: string, cwd: string): string | undefined {
  return foldersOf(cwd).includes(path) || path === cwd ? undefined : nearText(path, cwd);
}

const known = new Map<string, readonly string[]>();

/** As it is called, and as it is. Nothing is shortened below a root of the file system. */
function foldersOf(cwd: string): readonly string[] {
  const before = known.get(cwd);
  if (before !== undefined) return before;
  const folders = [...new Set([cwd, real(cwd)])].filter((folder) => folder.length > 1);
  known.set(cwd, folders);
  return folders;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
