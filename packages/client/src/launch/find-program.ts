// Finds a program on PATH and in the folders of common installers.

import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";

export type Found =
  /** `folder` is not on PATH: nor are programs beside it, such as its interpreter. */
  | { readonly path: string; readonly folder?: string }
  | { readonly problem: Problem; readonly searched: readonly string[] };

/** `unreachable`: a folder of its path cannot be entered. */
type Problem = "missing" | "unreachable" | "not_executable" | "directory";

type Environment = Readonly<Record<string, string | undefined>>;

export function findProgram(command: string, environment: Environment, cwd: string): Found {
  if (/[\\/]/.test(command)) {
    const path = isAbsolute(command) ? command : resolve(cwd, command);
    const problem = problemOf(path);
    return problem === undefined ? { path } : { problem, searched: [path] };
  }
  const onPath = (environment["PATH"] ?? environment["Path"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => (isAbsolute(folder) ? folder : resolve(cwd, folder)));
  const suffixes = process.platform === "win32" ? [".exe", ".com", ""] : [""];
  let unusable: "not_executable" | undefined;
  const others = usualFolders(environment).filter((folder) => !onPath.includes(folder));
  for (const folder of [...onPath, ...others]) {
    for (const suffix of suffixes) {
      const path = join(folder, command + suffix);
      const problem = problemOf(path);
      if (problem === undefined) return onPath.includes(folder) ? { path } : { path, folder };
      // whatever is in a folder that cannot be entered is not on PATH for this user
      if (problem === "not_executable") unusable = problem;
    }
  }
  return { problem: unusable ?? "missing", searched: onPath };
}

function problemOf(path: string): Problem | undefined {
  try {
    if (!statSync(path).isFile()) return "directory";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "unreachable" : "missing";
  }
  try {
    accessSync(path, constants.X_OK);
    return undefined;
  } catch {
    return "not_executable";
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
