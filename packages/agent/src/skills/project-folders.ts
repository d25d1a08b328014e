// The folders of a project: from the root of its repository down to the working directory.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folders whose files count for a session, the most general first. */
export function projectFolders(roots: readonly string[]): string[] {
  const [cwd, ...others] = roots;
  return [...others.toReversed(), ...(cwd === undefined ? [] : foldersDownTo(cwd))];
}

/** From the repository root down; without a repository only the working directory. */
export function foldersDownTo(cwd: string): string[] {
  const top = repositoryOf(cwd) ?? cwd;
  const folders = [cwd];
  for (let folder = cwd; folder !== top; folder = dirname(folder)) folders.unshift(dirname(folder));
  return folders;
}

/** The root of the repository that a folder is in; undefined outside of one. */
export function repositoryOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}
