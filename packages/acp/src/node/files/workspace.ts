// The shared state and checks of reading and writing.

import type { DirectoryAccess, Handle } from "./directory-access.ts";
import { fileError, quotedPath } from "./file-error.ts";
import type { FilePath } from "./file-path.ts";
import type { Roots } from "./roots.ts";

export interface Workspace {
  readonly access: DirectoryAccess;
  readonly roots: Roots;
  readonly maxReadBytes: number;
  /** Undefined when writes are checked only on request. */
  readonly seen: SeenVersions | undefined;
}

export function refuseDirectoryName(target: FilePath): void {
  if (!target.directory) return;
  const message = `${quotedPath(target.text)} can only be a directory; name a file, without a slash at the end`;
  throw fileError("not_a_file", message, target.text);
}

/** Called before opening: opening a pipe blocks, and opening a device may act. */
export function requireRegularFile(handle: Handle, target: FilePath): void {
  if (handle.stat.isFile()) return;
  const kind = handle.stat.isDirectory() ? "a directory" : "a pipe, a socket or a device";
  const message = `${quotedPath(target.text)} is ${kind}; name a regular file`;
  throw fileError("not_a_file", message, target.text);
}

const maxFiles = 4096;

/** Remembers the version of each file when it was last read or written, to detect changes by others. */
export class SeenVersions {
  readonly #versions = new Map<string, string>();

  get(canonical: string): string | undefined {
    return this.#versions.get(canonical);
  }

  set(canonical: string, version: string): void {
    // a Map keeps insertion order, so the first is the least recently used
    this.#versions.delete(canonical);
    this.#versions.set(canonical, version);
    if (this.#versions.size <= maxFiles) return;
    for (const oldest of this.#versions.keys()) {
      this.#versions.delete(oldest);
      return;
    }
  }
}
