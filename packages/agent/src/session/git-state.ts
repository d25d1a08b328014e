// Asks git for the branch and the uncommitted changes of a folder, without running anything that the repository configures.

import { execFile } from "node:child_process";
import { repositoryOf } from "../skills/project-folders.ts";
import { findProgram } from "../tools/base/find-program.ts";

/** A larger repository is not worth the wait. */
const patienceMs = 1_000;
const maxBuffer = 16 * 1024 * 1024;

const safely = [
  "--no-optional-locks",
  "-c",
  "core.fsmonitor=false",
  "-c",
  `core.hooksPath=${process.platform === "win32" ? "NUL" : "/dev/null"}`,
];
/** Objects that a repository says are elsewhere are not fetched: it also says by which program. */
const closed = { GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none", GIT_TERMINAL_PROMPT: "0" };
/** Programs that `git status` runs on changed files, and those that git-lfs, a usual filter of users, runs itself. */
const programs = String.raw`^(filter\..*\.(clean|process)|lfs\.extension\..*)$`;
const filters = ["config", "--show-scope", "--get-regexp", programs];
const status = ["status", "--porcelain=v2", "--branch", "--ignore-submodules=all"];

/** One session's view of git. A repository that was too slow once is not asked again. */
export class GitState {
  #isSlow = false;
  #program: Promise<string | undefined> | undefined;

  /** One line for the model; undefined outside a repository, and where git is missing, slow or not safe to ask. */
  async line(
    { cwd, roots }: { readonly cwd: string; readonly roots: readonly string[] },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const repository = this.#isSlow ? undefined : repositoryOf(cwd);
    if (repository === undefined) return undefined;
    this.#program ??= findProgram("git", [repository, ...roots]);
    const configured = await this.#run(cwd, filters, signal);
    // a filter in the user's own config is trusted, one in the repository's is not
    if (configured === undefined || /^(?:local|worktree)\t/m.test(configured)) return undefined;
    const shown = await this.#run(cwd, status, signal);
    return shown === undefined ? undefined : described(shown);
  }

  /** The output; undefined when git fails. Nothing found is no failure. */
  async #run(cwd: string, args: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    const program = await this.#program;
    if (program === undefined) return undefined;
    const env = { ...process.env, ...closed };
    const options = { cwd, env, signal, timeout: patienceMs, killSignal: "SIGKILL", maxBuffer } as const;
    return new Promise((resolve) => {
      execFile(program, [...safely, ...args], options, (error, stdout) => {
        if (error?.killed && !signal.aborted) this.#isSlow = true;
        const isNothing = error?.code === 1 && args === filters;
        resolve(error === null || isNothing ? stdout : undefined);
      });
    });
  }
}

function described(output: string): string {
  const lines = output.split("\n");
  const header = (name: string) =>
    lines.find((line) => line.startsWith(`# branch.${name} `))?.slice(`# branch.${name} `.length) ?? "";
  const branch = header("head");
  const at = branch === "(detached)" ? `no branch, commit ${header("oid").slice(0, 10)}` : `branch ${branch}`;
  const changed = lines.filter((line) => /^[12u] /.test(line)).length;
  const untracked = lines.filter((line) => line.startsWith("? ")).length;
  const dirty = [
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(untracked > 0 ? [`${untracked} untracked`] : []),
  ];
  // a branch may have any name
  return `Git: ${at.replaceAll(/[<>]/g, "?").slice(0, 200)}, ${dirty.length === 0 ? "clean" : dirty.join(", ")}`;
}
