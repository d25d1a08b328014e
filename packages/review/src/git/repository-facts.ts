// Answers questions about a repository with git, but without its config, hooks and filters: for programs that show its state.

import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { findProgram } from "@parley/acp/node";
import { obstacleIn } from "./obstacles.ts";
import { makePrivateGitDir, type PrivateGitDir } from "./private-git-dir.ts";
import { findRepository, headBranch, headCommit } from "./repository.ts";
import { runGit, zeroSeparated } from "./run-git.ts";

/** How a repository is asked. */
export interface RepositoryQuestion {
  /** A folder in the working tree, absolute. */
  readonly folder: string;
  /** Folders that git must not be started from, besides the repository. */
  readonly roots?: readonly string[];
  /** Ends git, and the question. */
  readonly signal?: AbortSignal;
  /** Where git and the user's settings are found. `process.env` unless set. */
  readonly env?: NodeJS.ProcessEnv;
}

/** What is checked out, and how much of it is changed. */
export interface RepositoryStatus {
  /** Undefined when a commit without a branch is checked out. */
  readonly branch: string | undefined;
  /** Undefined before the first commit. */
  readonly commit: string | undefined;
  /** Files that differ from the commit. */
  readonly changed: number;
  /** New files and folders that are not ignored. */
  readonly untracked: number;
}

/**
 * Tells the branch of a folder and how many files are not committed. Nothing of the repository is run: no hooks, no filters,
 * no settings.
 *
 * @param question - The folder.
 * @returns Undefined outside a repository, without git, and where git would not end.
 * @example
 * ```ts
 * import { repositoryStatus } from "@parley/review";
 *
 * const status = await repositoryStatus({ folder: process.cwd() });
 * console.log(status?.branch, status?.changed); // main 2
 * ```
 */
export function repositoryStatus(question: RepositoryQuestion): Promise<RepositoryStatus | undefined> {
  return asked(question, async (dir, ofFiles) => {
    const [branch, commit] = await Promise.all([headBranch(dir.repository), headCommit(dir.repository)]);
    if (commit !== undefined) await writeFile(join(dir.folder, "HEAD"), `${commit}\n`);
    const args = ["status", "--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=all"];
    const lines = zeroSeparated(await dir.run([...ofFiles, ...args, "--untracked-files=normal"]));
    return {
      branch,
      commit,
      changed: lines.filter((line) => /^[12u] /.test(line)).length,
      untracked: lines.filter((line) => line.startsWith("? ")).length,
    };
  });
}

/**
 * Lists the files below a folder that its repository tracks or does not ignore. Nothing of the repository is run: no hooks, no
 * filters, no settings.
 *
 * @param question - The folder.
 * @returns Paths relative to the folder; undefined outside a repository, without git, and where git would not end.
 * @example
 * ```ts
 * import { repositoryFiles } from "@parley/review";
 *
 * const files = await repositoryFiles({ folder: process.cwd() });
 * console.log(files?.length); // 120
 * ```
 */
export function repositoryFiles(question: RepositoryQuestion): Promise<readonly string[] | undefined> {
  return asked(question, async (dir, ofFiles, folder) => {
    const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const output = await runGit({ ...dir.command(), cwd: folder }, [...ofFiles, ...args]);
    return [...new Set(output.toString("utf8").split("\0").slice(0, -1))];
  });
}

/** Works in a git folder of our own that lives as long as the question. */
async function asked<Answer>(
  { folder, roots = [], signal = new AbortController().signal, env = process.env }: RepositoryQuestion,
  ask: (dir: PrivateGitDir, ofFiles: readonly string[], folder: string) => Promise<Answer>,
): Promise<Answer | undefined> {
  let own: string | undefined;
  try {
    const real = await realpath(folder);
    const repository = await findRepository(real);
    if (repository === undefined || (await obstacleIn(repository, [])) !== undefined) return undefined;
    const outside = [repository.worktree, folder, ...roots];
    const git = findProgram("git", { path: env["PATH"] ?? "", outside });
    const temporary = await realpath(tmpdir());
    // there the agent could change the settings that git is given
    const isOpen = `${temporary}${sep}`.startsWith(`${repository.worktree}${sep}`);
    if (git === undefined || isOpen || signal.aborted) return undefined;
    own = await mkdtemp(join(temporary, "parley-git-"));
    const { dir, ofFiles } = await makePrivateGitDir(own, repository, git, { env, signal });
    await dir.copyExcludes();
    await dir.copyIndex();
    return await ask(dir, ofFiles, real);
  } catch {
    // a damaged repository, one that cannot be read, a git that took too long
    return undefined;
  } finally {
    if (own !== undefined) await rm(own, { recursive: true, force: true });
  }
}
