// Finds hooks and settings below the roots. Later searches read only the folders that have changed.

import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isProjectFolder } from "../paths/project-folders.ts";
import {
  isInstalledFolder,
  isObeyedInProject,
  isPartlyHarmless,
  isRepositoryFolder,
  looksLikeRepository,
} from "../paths/project-names.ts";
import { isObeyedPath } from "../paths/protected-paths.ts";
import { isThere } from "./path-facts.ts";
import { isWorktreeFolder } from "./repositories.ts";

/** A search reads at most this many folders, and those that were known before. */
const defaultLimit = 3_000;

/** A folder that changed this shortly before it was read may change again without a new time. */
const tickNs = 50_000_000n;

interface Folder {
  readonly changed: bigint;
  readonly readAt: bigint;
  /** Whether it belongs to a project, and only some names in it are harmless. */
  readonly isPartOfProject: boolean;
  readonly children: readonly string[];
  readonly obeyed: readonly string[];
  /** Those of them that only begin with a dot. */
  readonly guessed: readonly string[];
  readonly repositories: readonly string[];
  /** Whether the text of a file in it says what it is. */
  readonly hasCommonDir: boolean;
  /** Whether a folder in it has a name that is no text, by which it cannot be opened. */
  readonly hasNameless: boolean;
}

/** What is below the roots. All paths are absolute. */
export interface Found {
  /** Files and folders that programs execute or obey. */
  readonly obeyed: ReadonlySet<string>;
  /** Those of them that no table names: they begin with a dot, and are directly in a root, a repository or a project. */
  readonly guessed: ReadonlySet<string>;
  /** The folders of repositories: `.git` and its like, and bare ones. */
  readonly repositories: ReadonlySet<string>;
  /** The folders that were read. */
  readonly folders: ReadonlySet<string>;
  /** Whether there are more folders than the limit, or some that cannot be opened. */
  readonly isIncomplete: boolean;
}

/** The root, repository or project that a guessed path is in. */
export function projectOf(path: string): string {
  const folder = dirname(path);
  return isPartlyHarmless(basename(folder)) ? dirname(folder) : folder;
}

/** Searches the same roots again and again. A folder that is known stays known, however many others appear. */
export class WatchedFolders {
  readonly #roots: readonly string[];
  readonly #limit: number;
  #known = new Map<string, Folder>();
  /** Roots, and folders that are or once were a repository or had a manifest, which a command could remove. */
  readonly #projects: Set<string>;

  constructor(roots: readonly string[], limit = defaultLimit) {
    this.#roots = roots;
    this.#limit = limit;
    this.#projects = new Set(roots);
  }

  /** Reads the folders that have changed since the last call. */
  search(): Found {
    const known = new Map<string, Folder>();
    const waiting = [...this.#known.keys(), ...this.#roots];
    for (const path of waiting) {
      if (known.has(path) || (known.size >= this.#limit && !this.#known.has(path))) continue;
      const folder = this.#read(path);
      if (folder === undefined) continue;
      known.set(path, folder);
      for (const child of folder.children) if (!this.#known.has(child)) waiting.push(child);
    }
    this.#known = known;
    const all = [...known.values()];
    const isMissing = waiting.some((path) => !known.has(path));
    return {
      obeyed: new Set(all.flatMap(({ obeyed }) => obeyed)),
      guessed: new Set(all.flatMap(({ guessed }) => guessed)),
      repositories: new Set(all.flatMap(({ repositories }) => repositories)),
      folders: new Set(known.keys()),
      isIncomplete: all.some(({ hasNameless }) => hasNameless) || (isMissing && known.size >= this.#limit),
    };
  }

  #read(path: string): Folder | undefined {
    const stats = folderStats(path);
    if (stats === undefined) return undefined;
    const before = this.#known.get(path);
    const isPartOfProject = isPartlyHarmless(basename(path)) && this.#projects.has(dirname(path));
    const isSame = before?.changed === stats.ctimeNs && before.isPartOfProject === isPartOfProject;
    // ctime, because a program can set the other times
    if (isSame && !before.hasCommonDir && before.readAt - before.changed > tickNs) return before;
    const readAt = BigInt(Date.now()) * 1_000_000n;
    const entries = entriesOf(path);
    const root = this.#roots.find((each) => path === each || path.startsWith(`${each}/`)) ?? path;
    const names = entries.map(({ name }) => name);
    const repositories = names.filter(isRepositoryFolder);
    // git obeys its config wherever it is started in it; all else in it is searched as well, because names prove nothing
    const isBare = looksLikeRepository(names) && !isWorktreeFolder(path);
    if (isProjectFolder(path, this.#roots, names)) this.#projects.add(path);
    const isProject = this.#projects.has(path);
    const isGuessed = (name: string) =>
      (isProject && isObeyedInProject(name)) ||
      (isPartOfProject && isObeyedInProject(`${basename(path)}/${name}`));
    const children: string[] = [];
    const obeyed: string[] = [];
    const guessed: string[] = [];
    for (const entry of entries) {
      const child = join(path, entry.name);
      if (isRepositoryFolder(entry.name)) continue;
      if (isObeyedPath(path === root ? entry.name : `${basename(path)}/${entry.name}`)) obeyed.push(child);
      else if (isGuessed(entry.name)) guessed.push(child);
      else if (entry.isDirectory() && !isPartOfProject && !isInstalledFolder(entry.name))
        children.push(child);
    }
    return {
      changed: stats.ctimeNs,
      readAt,
      isPartOfProject,
      children,
      obeyed: [...obeyed, ...guessed],
      guessed,
      repositories: [...repositories.map((name) => join(path, name)), ...(isBare ? [path] : [])],
      hasCommonDir: names.includes("commondir"),
      hasNameless: children.some((child) => child.includes("\ufffd") && !isThere(child)),
    };
  }
}

interface Shared {
  readonly watched: WatchedFolders;
  users: number;
}

const shared = new Map<string, Shared>();

/** Those of the same roots are shared, so that a sandbox with other rules knows what the one before it has found. */
export function watchFolders(roots: readonly string[]): { readonly watched: WatchedFolders; end(): void } {
  const key = roots.join("\0");
  const one = shared.get(key) ?? { watched: new WatchedFolders(roots), users: 0 };
  shared.set(key, one);
  one.users++;
  let hasEnded = false;
  return {
    watched: one.watched,
    end() {
      if (hasEnded) return;
      hasEnded = true;
      if (--one.users === 0) shared.delete(key);
    },
  };
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
