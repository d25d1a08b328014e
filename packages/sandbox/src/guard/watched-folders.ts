// Finds hooks and settings below the roots. Later searches read only the folders that have changed.

import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { isObeyedPath } from "@parley/acp/internal/node";
import { isThere } from "./path-facts.ts";
import { isRepositoryFolder } from "./repositories.ts";

/** Folders with what tools have installed or built. Nobody opens them as a workspace. */
const skipped = new Set(
  `node_modules bower_components .venv venv __pycache__ .tox .nox site-packages target .next .nuxt .turbo .gradle
  .terraform Pods .build .cache`.split(/\s+/),
);

/** A search reads at most this many folders. */
const defaultLimit = 3_000;

/** A folder that changed this shortly before it was read may change again without a new time. */
const tickNs = 50_000_000n;

interface Folder {
  readonly changed: bigint;
  readonly readAt: bigint;
  readonly children: readonly string[];
  readonly obeyed: readonly string[];
  readonly repositories: readonly string[];
  /** Whether a folder in it has a name that is no text, by which it cannot be opened. */
  readonly hasNameless: boolean;
}

/** What is below the roots. All paths are absolute. */
export interface Found {
  /** Files and folders that programs execute or obey. */
  readonly obeyed: ReadonlySet<string>;
  /** The folders of repositories: `.git` and its like, and bare ones. */
  readonly repositories: ReadonlySet<string>;
  /** The folders that were read. */
  readonly folders: ReadonlySet<string>;
  /** Whether there are more folders than the limit, or some that cannot be opened. */
  readonly isIncomplete: boolean;
}

/** Searches the same roots again and again. */
export class WatchedFolders {
  readonly #roots: readonly string[];
  readonly #limit: number;
  #known = new Map<string, Folder>();

  constructor(roots: readonly string[], limit = defaultLimit) {
    this.#roots = roots;
    this.#limit = limit;
  }

  /** Reads the folders that have changed since the last call. */
  search(): Found {
    const known = new Map<string, Folder>();
    const obeyed = new Set<string>();
    const repositories = new Set<string>();
    const waiting = [...this.#roots];
    let hasNameless = false;
    for (const path of waiting) {
      if (known.size >= this.#limit) break;
      const folder = known.has(path) ? undefined : this.#read(path);
      if (folder === undefined) continue;
      known.set(path, folder);
      for (const each of folder.obeyed) obeyed.add(each);
      for (const each of folder.repositories) repositories.add(each);
      hasNameless ||= folder.hasNameless;
      waiting.push(...folder.children);
    }
    this.#known = known;
    const isIncomplete =
      hasNameless || (waiting.some((path) => !known.has(path)) && known.size >= this.#limit);
    return { obeyed, repositories, folders: new Set(known.keys()), isIncomplete };
  }

  #read(path: string): Folder | undefined {
    const stats = folderStats(path);
    if (stats === undefined) return undefined;
    const before = this.#known.get(path);
    // ctime, because a program can set the other times
    if (before?.changed === stats.ctimeNs && before.readAt - before.changed > tickNs) return before;
    const readAt = BigInt(Date.now()) * 1_000_000n;
    const entries = entriesOf(path);
    const root = this.#roots.find((each) => path === each || path.startsWith(`${each}/`)) ?? path;
    const children: string[] = [];
    const obeyed: string[] = [];
    const repositories: string[] = [];
    const isBare = ["HEAD", "objects", "refs"].every((name) => entries.some((entry) => entry.name === name));
    // git obeys its config wherever it is started in it
    if (isBare)
      return { changed: stats.ctimeNs, readAt, children, obeyed, repositories: [path], hasNameless: false };
    for (const entry of entries) {
      const child = join(path, entry.name);
      if (isRepositoryFolder(entry.name)) repositories.push(child);
      else if (isObeyedPath(relative(root, child))) obeyed.push(child);
      else if (entry.isDirectory() && !skipped.has(entry.name)) children.push(child);
    }
    const hasNameless = children.some((child) => child.includes("\ufffd") && !isThere(child));
    return { changed: stats.ctimeNs, readAt, children, obeyed, repositories, hasNameless };
  }
}

/** Links are not followed. */
function folderStats(path: string): BigIntStats | undefined {
  try {
    const stats = lstatSync(path, { bigint: true });
    return stats.isDirectory() ? stats : undefined;
  } catch {
    return undefined;
  }
}

function entriesOf(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
