// The root directories of a session, each opened once, so that it stays the same even if its path changes.

import { type DirectoryAccess, type Handle, isSameInode, type OpenedRoot } from "./directory-access.ts";
import { fileError, fileErrorFrom, quotedPath } from "./file-error.ts";
import { type FilePath, parseFilePath } from "./file-path.ts";

interface Alias {
  readonly root: OpenedRoot;
  /** Normalised by `fold`. */
  readonly names: readonly string[];
}

export interface Location {
  readonly root: OpenedRoot;
  /** The names below the root. */
  readonly rest: readonly string[];
}

export class Roots {
  readonly #roots: OpenedRoot[] = [];
  readonly #aliases: Alias[] = [];
  readonly #shown: string;

  constructor(paths: readonly string[], access: DirectoryAccess) {
    if (paths.length === 0)
      throw fileError("invalid_argument", "roots must name at least one directory, got none");
    try {
      for (const path of paths) this.#add(parseFilePath(path), access);
    } catch (error) {
      this.close();
      throw error;
    }
    // nested roots first
    this.#aliases.sort((one, other) => other.names.length - one.names.length);
    this.#shown = [...new Set(paths)].map(quotedPath).join(", ");
  }

  /** Undefined when outside of all roots. */
  locate(names: readonly string[]): Location | undefined {
    const folded = names.map(fold);
    const alias = this.#aliases.find((known) => known.names.every((name, index) => name === folded[index]));
    return alias && { root: alias.root, rest: names.slice(alias.names.length) };
  }

  isRoot(handle: Handle): boolean {
    return this.#roots.some((root) => root.handle === handle);
  }

  outside(path: string, why = "is outside the workspace"): Error {
    const advice = `use a path below ${this.#shown}`;
    return fileError("outside_workspace", `${quotedPath(path)} ${why}; ${advice}`, path);
  }

  close(): void {
    for (const root of this.#roots.splice(0)) root.handle.close();
    this.#aliases.length = 0;
  }

  #add(path: FilePath, access: DirectoryAccess): void {
    const opened = this.#open(path, access);
    const known = this.#roots.find((root) => isSameInode(root.handle.stat, opened.handle.stat));
    if (known !== undefined) opened.handle.close();
    else this.#roots.push(opened);
    for (const names of [path.names, parseFilePath(opened.path).names]) {
      this.#aliases.push({ root: known ?? opened, names: names.map(fold) });
    }
  }

  #open(path: FilePath, access: DirectoryAccess): OpenedRoot {
    try {
      return access.openRoot(pathFrom(path.names));
    } catch (error) {
      throw fileErrorFrom(error, "read", path.text);
    }
  }
}

export function pathFrom(names: readonly string[]): string {
  if (process.platform !== "win32") return `/${names.join("/")}`;
  return names.length === 1 ? `${names[0]}\\` : names.join("\\");
}

// file systems of these two ignore case and Unicode normalisation
const folds = process.platform === "darwin" || process.platform === "win32";

function fold(name: string): string {
  return folds ? name.normalize("NFC").toLowerCase() : name;
}
