// Reads facts about paths. A path that cannot be read counts as missing.

import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** The path without links, or undefined if it does not exist. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** The path without links. Names at its end may be missing. */
export function realPathOrMissing(path: string): string {
  const real = realPath(path);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(realPathOrMissing(dirname(path)), path.slice(path.lastIndexOf("/") + 1));
}

/** What a path leads to. Sockets, pipes and devices count as files. */
export function typeOf(path: string): "file" | "folder" | undefined {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return undefined;
  }
}

/** Whether there is anything of that name, a broken link included. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** A small file. Anything that is not a regular file counts as missing, because reading a pipe would wait. */
export function smallText(path: string): string | undefined {
  try {
    const { size } = lstatSync(path);
    return lstatSync(path).isFile() && size < 100_000 ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

export function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
