// Reads the branch of a folder without a process.

import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The branch, or the beginning of the commit; undefined outside of a repository. */
export function gitBranch(cwd: string): string | undefined {
  try {
    const folder = gitFolder(cwd);
    if (folder === undefined) return undefined;
    const head = readFileSync(join(folder, "HEAD"), "utf8").trim();
    const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
    return branch ?? head.slice(0, 8);
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
      const [, target] = /^gitdir: (.+)$/m.exec(readFileSync(path, "utf8")) ?? [];
      return target === undefined ? undefined : resolve(folder, target.trim());
    }
    if (dirname(folder) === folder) return undefined;
  }
}
