// Compares files by their facts at both ends of a turn, where git cannot: folders without a repository, ignored files.

import type { FolderChanges, PathChange, ReviewLimits, Source } from "../files/source.ts";
import { type BytePath, isSameVersion } from "../files/version.ts";
import type { ContentStore } from "./content-store.ts";
import { lookAt, type SeenFile, seenVersion } from "./seen-file.ts";

/** How many files are looked at at once. */
const together = 32;

/** The files of a folder that are to be compared. */
export interface FileList {
  readonly notCovered: readonly string[];
  readonly nested: readonly string[];
  list(): Promise<Iterable<BytePath>>;
  has(path: BytePath): boolean;
}

export class ManifestSource implements Source {
  readonly root: string;
  readonly hash = "sha1";
  readonly #files: FileList;
  readonly #store: ContentStore;
  readonly #maxBytes: number;
  #now = new Map<BytePath, SeenFile>();
  #begin: Map<BytePath, SeenFile | undefined> | undefined;

  constructor(root: string, files: FileList, store: ContentStore, limits: ReviewLimits) {
    this.root = root;
    this.#files = files;
    this.#store = store;
    this.#maxBytes = limits.textFileBytes;
  }

  get notCovered(): readonly string[] {
    return this.#files.notCovered;
  }

  get nested(): readonly string[] {
    return this.#files.nested;
  }

  async begin(): Promise<void> {
    await this.#look();
    this.#begin = new Map(this.#now);
  }

  /** Looks at one more file before it is changed. Says whether it can be restored. */
  async lookBefore(path: BytePath, isRunning: boolean): Promise<boolean> {
    if (isRunning) this.#begin ??= new Map(this.#now);
    const begin = this.#begin ?? this.#now;
    const seen = begin.has(path) ? begin.get(path) : await this.#lookAt(path);
    if (this.#begin !== undefined) this.#begin.set(path, seen);
    return seen === undefined || seen.content !== undefined;
  }

  async end(): Promise<FolderChanges> {
    const begin = this.#begin;
    this.#begin = undefined;
    if (begin === undefined) return { files: [], notes: [] };
    await this.#look();
    const files: PathChange[] = [];
    for (const path of new Set([...begin.keys(), ...this.#now.keys()])) {
      const [old, now] = [begin.get(path), this.#now.get(path)];
      if (old?.stamp === now?.stamp) continue;
      const before = await seenVersion(old, this.#store);
      const after = await seenVersion(now, this.#store);
      if (!isSameVersion(before, after)) files.push({ path, before, after });
    }
    return { files, notes: [] };
  }

  async covers(path: BytePath): Promise<boolean> {
    return this.#files.has(path);
  }

  content(id: string): Promise<Buffer> {
    return this.#store.load(id);
  }

  async #look(): Promise<void> {
    const paths = [...(await this.#files.list())];
    const now = new Map<BytePath, SeenFile>();
    for (let i = 0; i < paths.length; i += together) {
      await Promise.all(
        paths.slice(i, i + together).map(async (path) => {
          const seen = await this.#lookAt(path);
          if (seen !== undefined) now.set(path, seen);
        }),
      );
    }
    this.#now = now;
  }

  #lookAt(path: BytePath): Promise<SeenFile | undefined> {
    return lookAt(this.root, path, {
      store: this.#store,
      maxBytes: this.#maxBytes,
      before: this.#now.get(path),
    });
  }
}
