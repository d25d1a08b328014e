// Tells the model the branch and the uncommitted changes of a folder, without running anything that the repository configures.

import { repositoryOf } from "../skills/project-folders.ts";

/** A larger repository is not worth the wait. */
const patienceMs = 1_000;

/** One session's view of git. A repository that was too slow once is not asked again. */
export class GitState {
  #isSlow = false;

  /** One line for the model; undefined outside a repository, and where git is missing, slow or not safe to ask. */
  async line(
    { cwd, roots }: { readonly cwd: string; readonly roots: readonly string[] },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (this.#isSlow || repositoryOf(cwd) === undefined) return undefined;
    const { repositoryStatus } = await import("@parley/review");
    const patience = AbortSignal.timeout(patienceMs);
    const question = { folder: cwd, roots, signal: AbortSignal.any([signal, patience]) };
    const status = await repositoryStatus(question);
    this.#isSlow = status === undefined && patience.aborted;
    if (status === undefined) return undefined;
    const { branch, commit = "", changed, untracked } = status;
    const at = branch === undefined ? `no branch, commit ${commit.slice(0, 10)}` : `branch ${branch}`;
    const dirty = [
      ...(changed > 0 ? [`${changed} changed`] : []),
      ...(untracked > 0 ? [`${untracked} untracked`] : []),
    ];
    // a branch may have any name
    return `Git: ${at.replaceAll(/[<>]/g, "?").slice(0, 200)}, ${dirty.length === 0 ? "clean" : dirty.join(", ")}`;
  }
}
