// Tells whether the files that a command names are still what they were.

import { readFileSync, statSync } from "node:fs";
import { contentHash } from "./gate-state.ts";

/** Of more files, and of larger ones, only what the system says of them is compared. */
const maxFiles = 64;
const maxBytes = 4 * 1024 * 1024;

/** Changes with the content of each file. Canonical paths. */
export function stampOfFiles(paths: readonly string[]): string {
  return contentHash(paths.map((path, at) => `${path}\0${stampOf(path, at < maxFiles)}`).join("\0"));
}

function stampOf(path: string, isRead: boolean): string {
  try {
    const stat = statSync(path, { bigint: true });
    if (!stat.isFile()) return "no file";
    const { ino, dev, size, mtimeNs, ctimeNs } = stat;
    return isRead && size <= maxBytes
      ? contentHash(readFileSync(path))
      : `${dev}/${ino}/${size}/${mtimeNs}/${ctimeNs}`;
  } catch {
    return "unreadable";
  }
}
