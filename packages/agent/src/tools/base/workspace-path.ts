// Converts paths between the forms that models write and users read.

import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { RequestError } from "@parley/acp";
import { type Access, type RunContext, type ToolContext, ToolError } from "./tool.ts";

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

export interface ReadablePath {
  /** Without links if it is outside the roots. */
  readonly path: string;
  readonly shown: string;
  readonly isOutside: boolean;
  readonly access: Access;
  /** Runs a call with files that reach the path: those of the session, or what was allowed outside. */
  within<Result>(context: RunContext, work: (context: RunContext) => Promise<Result>): Promise<Result>;
}

/** A path to read, which may be outside the roots; whether something is there is not said before the user agrees. */
export async function resolveReadable(
  context: ToolContext,
  given: string,
  kind: "file" | "tree",
): Promise<ReadablePath> {
  try {
    const { path, paths, shown } = await resolvePath(context, given);
    const access = { type: "read", paths } as const;
    return { path, shown, isOutside: false, access, within: (run, work) => work(run) };
  } catch (error) {
    if (!(error instanceof RequestError) || error.kind !== "outside_workspace") throw error;
  }
  const named = absolutePath(context, given);
  // loaded on use, to keep startup fast
  const { locateOutside, withOutsideFiles } = await import("./outside-files.ts");
  const path = await locateOutside(named);
  return {
    path,
    shown: path,
    isOutside: true,
    access: { type: "read", paths: path === named ? [path] : [named, path], outside: kind },
    within: (run, work) => withOutsideFiles(path, kind, (files) => work({ ...run, files })),
  };
}

/** The names to check when an entry itself is removed or moved: a link is not followed. */
export async function entryNamesOf(context: ToolContext, path: string): Promise<readonly string[]> {
  const real = join(await context.files.locate(dirname(path)), basename(path));
  return real === path ? [path] : [path, real];
}
