// Paths as a model writes them and as a user reads them.

import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type ToolContext, ToolError } from "./tool.ts";

/** Absolute. Relative to the working directory; `~` is the home directory, a file: URL its path. */
export function absolutePath(context: Pick<ToolContext, "cwd">, path: string): string {
  if (path === "") throw new ToolError("a path must not be empty; `.` is the working directory");
  if (/^file:/i.test(path)) {
    try {
      return fileURLToPath(path);
    } catch {
      throw new ToolError(`${JSON.stringify(path)} is no path of this machine; give a plain path`);
    }
  }
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return resolve(context.cwd, path);
}

/** As a user would say it: relative below the working directory, else absolute. */
export function shownPath(context: Pick<ToolContext, "cwd">, path: string): string {
  const short = relative(context.cwd, path);
  if (short === "") return ".";
  return short === ".." || short.startsWith(`..${sep}`) || isAbsolute(short) ? path : short;
}

/** The path, and where it leads if that is elsewhere: both are judged. */
export async function namesOf(context: ToolContext, path: string): Promise<readonly string[]> {
  const real = await context.files.locate(path);
  return real === path ? [path] : [path, real];
}

/** The same for what is removed or moved: there a link means itself. */
export async function entryNamesOf(context: ToolContext, path: string): Promise<readonly string[]> {
  const real = join(await context.files.locate(dirname(path)), basename(path));
  return real === path ? [path] : [path, real];
}
