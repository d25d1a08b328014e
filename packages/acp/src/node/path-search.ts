// Finds programs on PATH.

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { checkOptions } from "../base/known-options.ts";

/** Where a program may be. */
export interface FindProgramOptions {
  /** The folders to search, as in PATH. Default: PATH of this process. */
  readonly path?: string | undefined;
  /** The folder that relative paths are relative to, an empty one too. Default: relative paths are not searched. */
  readonly cwd?: string | undefined;
  /** Folders whose programs are not taken, such as a project: an agent may have put one there. */
  readonly outside?: readonly string[] | undefined;
}

/**
 * Finds a program on PATH, as the system does. The folders of `outside` are compared by their real paths: a folder on
 * PATH may be a link into one of them, and one of them may be named through a link.
 *
 * @param name - A name such as `git`, or a path.
 * @returns Its path, links not resolved; undefined if there is none.
 *
 * @example
 * import { findProgram } from "@parley/acp/node";
 *
 * console.log(findProgram("git", { outside: [process.cwd()] })); // /usr/bin/git
 */
export function findProgram(name: string, options: FindProgramOptions = {}): string | undefined {
  checkOptions("findProgram", options, { path: true, cwd: true, outside: true });
  const { path = process.env["PATH"] ?? "", cwd, outside = [] } = options;
  const closed = [...outside, ...outside.map(realPath)];
  const isInside = (each: string) =>
    closed.some((folder) => `${each}${sep}`.startsWith(folder.endsWith(sep) ? folder : folder + sep));
  const named = /[\\/]/.test(name) ? [name] : path.split(delimiter).map((folder) => join(folder, name));
  const suffixes = process.platform === "win32" ? [".exe", ".com", ""] : [""];
  return named
    .flatMap((each) => (isAbsolute(each) ? [each] : cwd === undefined ? [] : [resolve(cwd, each)]))
    .flatMap((each) => suffixes.map((suffix) => each + suffix))
    .find(
      (each) =>
        isProgram(each) &&
        // the folder too: a link in it can be turned to another program later
        ![each, realPath(each), realPath(dirname(each))].some(isInside),
    );
}

/**
 * Whether the system means that there is no such command. It reports EACCES instead of ENOENT if a folder of PATH
 * cannot be entered, or has a folder of that name.
 */
export function isMissingCommand(
  command: string,
  { code }: NodeJS.ErrnoException,
  path: string | undefined = process.env["PATH"],
): boolean {
  if (code === "ENOENT") return true;
  if (code !== "EACCES" || /[\\/]/.test(command)) return false;
  const folders = (path ?? "").split(delimiter);
  return !folders.some((folder) => folder !== "" && isFile(join(folder, command)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
