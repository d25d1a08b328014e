// Finds out which folders of a workspace are projects, and what programs may obey in them.

import { readdirSync, realpathSync } from "node:fs";
import { basename, isAbsolute, join, relative } from "node:path";
import {
  isFolderOfOthers,
  isInstalledFolder,
  isManifest,
  isObeyedInProject,
  isPartlyHarmless,
  isRepositoryFolder,
  looksLikeRepository,
} from "./project-names.ts";

/**
 * Folders that were found to be a repository or to have a manifest. They stay projects as long as the process runs,
 * because whoever wants to write in one could remove the manifest first.
 */
const found = new Set<string>();

/** Whether a folder below the roots is a project: a root, a repository, or a folder with a manifest. `names` are in it. */
export function isProjectFolder(
  folder: string,
  roots: readonly string[],
  names: readonly string[] = namesIn(folder),
): boolean {
  if (roots.includes(folder)) return true;
  const root = roots.find((each) => namesBelow(each, folder) !== undefined) ?? folder;
  if (namesBelow(root, folder)?.some(isFolderOfOthers)) return false;
  if (looksLikeRepository(names) || names.some((name) => isRepositoryFolder(name) || isManifest(name)))
    found.add(folder);
  return found.has(folder);
}

/** Whether programs may obey an absolute path only because of its name and the project below the roots that it is in. */
export function isObeyedInProjects(path: string, roots: readonly string[]): boolean {
  if (!/[\\/]\./.test(path) && !isManifest(basename(path))) return false;
  const all = [...new Set(roots.flatMap((root) => [root, realPathOf(root)]))];
  return all.some((root) => isObeyedBelow(root, path, all));
}

function isObeyedBelow(root: string, path: string, roots: readonly string[]): boolean {
  const names = namesBelow(root, path) ?? [];
  let folder = root;
  for (const [at, name] of names.entries()) {
    const isLast = at === names.length - 1;
    const isPartly = isPartlyHarmless(name);
    // a folder that is harmless in parts may be moved there with all its parts
    const mayBeObeyed = isObeyedInProject(names.slice(at).join("/")) || (isPartly && isLast);
    if (mayBeObeyed && isProjectFolder(folder, roots)) return true;
    // before a manifest is removed
    if (isLast && isManifest(name)) isProjectFolder(folder, roots);
    if (isInstalledFolder(name) || isFolderOfOthers(name)) return false;
    if (isPartly && isProjectFolder(folder, roots)) return false;
    folder = join(folder, name);
  }
  return false;
}

/** Undefined: it is elsewhere. */
function namesBelow(root: string, path: string): readonly string[] | undefined {
  const rest = relative(root, path);
  if (rest === "") return [];
  const names = rest.split(/[\\/]/);
  return names[0] === ".." || isAbsolute(rest) ? undefined : names;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
