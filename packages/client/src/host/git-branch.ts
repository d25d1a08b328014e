// Reads the branch of a folder without a process.

import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The branch, or the beginning of the commit; undefined outside of a repository. */
export function gitBranch(cwd: string): string | undefined {
  try {
    const folder = gitFolder(cwd);
    if (folder === undefined) return undefined;
    const head = smallFile(join(folder, "HEAD")).trim();
    const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
    return branch ?? (head === "" ? undefined : head.slice(0, 8));
  } catch {
    // a repository that cannot be read has no branch to show
    return undefined;
  }
}

function gitFolder(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, ".git");
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts?.isDirectory()) return path;
    // a worktree or a submodule
    if (facts?.isFile()) {
      const [, target] = /^gitdir: (.+)$/m.exec(smallFile(path)) ?? [];
      return target === undefined ? undefined : resolve(folder, target.trim());
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** The beginning of a file. An agent may put a pipe or a device in its place, which would never end. */
function smallFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!fstatSync(file).isFile()) return "";
    const bytes = Buffer.alloc(4096);
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
