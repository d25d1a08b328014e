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
  const folders = [cwd];
  for (let folder = cwd; !existsSync(join(folder, ".git")); folder = dirname(folder)) {
    if (dirname(folder) === folder) return [cwd];
    folders.unshift(dirname(folder));
  }
  return folders;
}
