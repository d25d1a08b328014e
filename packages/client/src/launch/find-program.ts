// Finds a program on PATH and in the folders of common installers.

import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { findProgram } from "@parley/acp/node";

/** The program, or why there is none. */
export type FoundProgram =
  /** `folder` is not on PATH: nor are programs beside it, such as its interpreter. */
  | { readonly path: string; readonly folder?: string }
  | { readonly problem: ProgramProblem; readonly searched: readonly string[] };

/** `unreachable`: a folder of its path cannot be entered. */
/** @inline */
type ProgramProblem = "missing" | "unreachable" | "not_executable" | "directory";

/** @inline */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Finds a program on PATH, and in the folders of common installers where PATH lacks them.
 *
 * @example
 * import { findAgentProgram } from "@parley/client/launch";
 *
 * const found = findAgentProgram("gemini", process.env, process.cwd());
 * console.log("path" in found ? found.path : found.problem);
 */
export function findAgentProgram(command: string, environment: Environment, cwd: string): FoundProgram {
  const isPath = /[\\/]/.test(command);
  const onPath = (environment["PATH"] ?? environment["Path"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => resolve(cwd, folder));
  const others = usualFolders(environment).filter((folder) => !onPath.includes(folder));
  const path = findProgram(command, { cwd, path: [...onPath, ...others].join(delimiter) });
  if (path !== undefined) {
    const folder = dirname(path);
    return isPath || onPath.includes(folder) ? { path } : { path, folder };
  }
  if (isPath) return { problem: problemOf(resolve(cwd, command)), searched: [resolve(cwd, command)] };
  // whatever is in a folder that cannot be entered is not on PATH for this user
  const isUnusable = [...onPath, ...others].some(
    (each) => problemOf(join(each, command)) === "not_executable",
  );
  return { problem: isUnusable ? "not_executable" : "missing", searched: onPath };
}

/** Of a path that is no program. */
function problemOf(path: string): ProgramProblem {
  try {
    return statSync(path).isFile() ? "not_executable" : "directory";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "unreachable" : "missing";
  }
}

/** The folders of npm, nvm, volta, mise, Homebrew, cargo, bun and pipx. */
function usualFolders(environment: Environment): readonly string[] {
  if (process.platform === "win32") return [];
  const home = environment["HOME"] ?? homedir();
  if (home === "" || !isAbsolute(home)) return [];
  const nvm = join(environment["NVM_DIR"] ?? join(home, ".nvm"), "versions/node");
  const own =
    `.local/bin bin .npm-global/bin .volta/bin .local/share/mise/shims .asdf/shims .bun/bin .cargo/bin
    .opencode/bin`.split(/\s+/);
  return [
    ...own.map((each) => join(home, each)),
    ...newestFirst(nvm).map((version) => join(nvm, version, "bin")),
    "/opt/homebrew/bin",
    "/usr/local/bin",
  ];
}

function newestFirst(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort((one, other) => other.localeCompare(one, "en", { numeric: true }));
  } catch {
    return [];
  }
}
