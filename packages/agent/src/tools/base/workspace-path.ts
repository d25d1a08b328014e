// Converts paths between the forms that models write and users read.

import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type ToolContext, ToolError } from "./tool.ts";

/** Resolves a path against the working directory; `~` is the home directory, a file: URL its path. */
export function absolutePath(context: Pick<ToolContext, "cwd">, path: string): string {
  if (path === "") throw new ToolError("a path must not be empty; `.` is the working directory");
  if (/^file:/i.test(path)) {
    try {
      return fileURLToPath(path);
    } catch {
      throw new ToolError(`${JSON.stringify(path)} is not a path on this machine; give a plain path`);
    }
  }
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return resolve(context.cwd, path);
}

/** Relative inside the working directory, else absolute. */
export function shownPath(context: Pick<ToolContext, "cwd">, path: string): string {
  const short = relative(context.cwd, path);
  if (short === "") return ".";
  return short === ".." || short.startsWith(`..${sep}`) || isAbsolute(short) ? path : short;
}

/** The forms of a path that a model has written. */
export interface ResolvedPath {
  /** Absolute. */
  readonly path: string;
  /** The path and, if it goes through links, where it leads: what the `access` of a call must list. */
  readonly paths: readonly string[];
  /** As users read it: relative inside the working directory, otherwise absolute. */
  readonly shown: string;
}

/**
 * Resolves a path that a model has written: absolute, relative to the working directory, with `~`, or a file: URL. Throws
 * ToolError when it is none of these.
 *
 * @param context - The context that `prepare` of a tool gets.
 * @param given - The path. It need not exist.
 *
 * @example
 * import type { ToolContext } from "@parley/agent";
 * import { resolvePath } from "@parley/agent/tools";
 *
 * export const isNamed = async (context: ToolContext, given: string) =>
 *   (await resolvePath(context, given)).shown.endsWith(".md");
 */
export async function resolvePath(context: ToolContext, given: string): Promise<ResolvedPath> {
  const path = absolutePath(context, given);
  const real = await context.files.locate(path);
  return { path, paths: real === path ? [path] : [path, real], shown: shownPath(context, path) };
}

/** The names to check when an entry itself is removed or moved: a link is not followed. */
export async function entryNamesOf(context: ToolContext, path: string): Promise<readonly string[]> {
  const real = join(await context.files.locate(dirname(path)), basename(path));
  return real === path ? [path] : [path, real];
}
