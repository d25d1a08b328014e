// Yields the files that a search goes through: listed by ripgrep where there is one, else by our own walk.

import { dirname } from "node:path";
import type { ToolContext } from "../base/tool.ts";
import { filesThatMayMatch, listFiles, type RipgrepSearch } from "./ripgrep.ts";
import { ripgrepPattern } from "./ripgrep-pattern.ts";
import { rulesAbove, walkTree } from "./walk-tree.ts";

/** Groups files, so that the client's veto covers many at once. */
const filesAtOnce = 100;

export interface Wanted {
  /** The directory. */
  readonly path: string;
  readonly pattern: string;
  readonly isLiteral: boolean;
  readonly ignoresCase: boolean;
  readonly withIgnored: boolean;
  /** A larger file is listed, and counts as one that may match. */
  readonly maxBytes: number;
  readonly isWanted?: (path: string) => boolean;
}

export interface FileGroup {
  /** In the order of the walk. */
  readonly paths: readonly string[];
  /** Those of the given files in which a line may match. Undefined: any of them. */
  readonly narrowed?: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
}

export async function* filesToSearch(
  context: ToolContext,
  wanted: Wanted,
  ripgrep: string | undefined,
): AsyncGenerator<FileGroup> {
  const listed = ripgrep === undefined ? undefined : await listedGroup(context, wanted, ripgrep);
  if (listed === undefined) yield* walkedGroups(context, wanted);
  else yield listed;
}

async function* walkedGroups(context: ToolContext, wanted: Wanted): AsyncGenerator<FileGroup> {
  let paths: string[] = [];
  for await (const { path, kind } of walkTree(context, wanted.path, wanted)) {
    if (kind !== "file" || wanted.isWanted?.(path) === false) continue;
    paths.push(path);
    if (paths.length < filesAtOnce) continue;
    yield { paths };
    paths = [];
  }
  if (paths.length > 0) yield { paths };
}

async function listedGroup(
  context: ToolContext,
  wanted: Wanted,
  program: string,
): Promise<FileGroup | undefined> {
  const { path: directory, pattern, isLiteral, ignoresCase, isWanted } = wanted;
  const search: RipgrepSearch = { program, directory, signal: context.signal };
  const listed = await listFiles(search, { ...wanted, above: rulesAbove(directory) });
  if (listed === undefined) return undefined;
  const paths = await openPaths(context, directory, listed.paths);
  const narrow = ripgrepPattern(pattern, isLiteral);
  return {
    paths: isWanted === undefined ? paths : paths.filter(isWanted),
    ...(narrow !== undefined && {
      async narrowed(some) {
        const small = some.filter((path) => !listed.large.has(path));
        const found = await filesThatMayMatch(search, small, { pattern: narrow, ignoresCase });
        return new Set([...found, ...some.filter((path) => listed.large.has(path))]);
      },
    }),
  };
}

/** Without what is in folders that the client's rules close. */
async function openPaths(
  { vetoes }: ToolContext,
  directory: string,
  paths: readonly string[],
): Promise<readonly string[]> {
  if (vetoes === undefined) return paths;
  const folders = new Set<string>();
  for (const path of paths)
    for (let at = dirname(path); at.length > directory.length && !folders.has(at); at = dirname(at))
      folders.add(at);
  const closed = await vetoes.unreadable([...folders]);
  if (closed.size === 0) return paths;
  const isClosed = (path: string): boolean => {
    for (let at = dirname(path); at.length > directory.length; at = dirname(at))
      if (closed.has(at)) return true;
    return false;
  };
  return paths.filter((path) => !isClosed(path));
}
