// Knows the folders in which version control systems keep a repository, and which files in them run programs.

import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { isRepositoryFolder, looksLikeRepository } from "../paths/project-names.ts";
import { entriesIn, foldersIn, isThere, linkTarget, realPath, smallText, typeOf } from "./path-facts.ts";

/**
 * What programs execute or obey in the folders of repositories. All else can be written. `commondir` of git and
 * `sharedpath` of hg name another folder.
 */
const obeyed: ReadonlyMap<string, readonly string[]> = new Map([
  [".git", ["hooks", "config", "config.worktree", "commondir"]],
  [".hg", ["hgrc", "hgrc-not-shared", "sharedpath"]],
  [".jj", ["repo/config.toml", "workspace-config.toml"]],
  [".sl", ["config", "hgrc", "sharedpath"]],
  [".bzr", ["branch/branch.conf"]],
  [".pijul", ["config"]],
]);

/** More worktrees and included files than this are not looked at. */
const limit = 200;

/** More folders than this are not searched for submodules. Where there are more, the folder of all counts as one. */
const modulesLimit = 20_000;

/** What the settings of the user say about all repositories: the folders of hooks, and the files that hold the settings. */
export interface GitSettings {
  readonly hooks: readonly string[];
  readonly files: readonly string[];
}

/**
 * The paths of a repository that must not be written, whether they exist or not. `trees` are its work trees, in which the
 * config may name a folder of hooks.
 */
export function obeyedIn(folder: string, settings: GitSettings, trees = treesOf(folder)): readonly string[] {
  const kind = kindOf(folder);
  const own = placesOf(folder).flatMap((place) => (obeyed.get(kind) ?? []).map((path) => join(place, path)));
  if (kind !== ".git") return own;
  // those that exist are compared, see keptIn
  const ofWorktrees = worktreesOf(folder).map((path) => join(path, "config.worktree"));
  return [
    ...own,
    ...hooksIn(folder, settings, trees),
    ...configOf(folder).files.filter((path) => !own.includes(path)),
    ...ofWorktrees.filter((path) => !isThere(path)),
    ...modulesOf(folder).flatMap((each) => obeyedIn(each, settings)),
  ];
}

/** The folders in which git looks for the hooks of a repository. */
function hooksIn(folder: string, settings: GitSettings, trees: readonly string[]): readonly string[] {
  const named = [...settings.hooks, ...configOf(folder).hooks];
  const own = placesOf(folder).map((place) => join(place, "hooks"));
  return [...own, ...named.flatMap((path) => trees.map((tree) => atHome(path, tree)))];
}

/** The folders of hooks of a git repository and its submodules that do not exist. */
export function missingHooks(
  folder: string,
  settings: GitSettings,
  trees = treesOf(folder),
): readonly string[] {
  if (kindOf(folder) !== ".git" || !(isGitFolder(folder) || placesOf(folder).length > 1)) return [];
  // a link that leads nowhere counts as missing
  const own = hooksIn(folder, settings, trees).filter((path) => typeOf(path) === undefined);
  return [...own, ...modulesOf(folder).flatMap((each) => missingHooks(each, settings))];
}

/** Creates an empty folder. Returns the folders that it has created, the deepest first. */
export function createFolder(path: string): readonly string[] {
  if (typeOf(path) === "folder") return [];
  const above = createFolder(dirname(path));
  try {
    mkdirSync(path);
    return [path, ...above];
  } catch {
    return above; // something else is there, or nobody can create it
  }
}

/** The folders of submodules and bare repositories have any name. */
function kindOf(folder: string): string {
  const name = basename(folder);
  return isRepositoryFolder(name) ? name : ".git";
}

/** Hooks of a bare repository run in it. */
function treesOf(folder: string): readonly string[] {
  return [worktreeOfModule(folder) ?? (isRepositoryFolder(basename(folder)) ? dirname(folder) : folder)];
}

function configOf(folder: string): GitSettings {
  return followConfig(
    placesOf(folder).flatMap((place) => [join(place, "config"), join(place, "config.worktree")]),
  );
}

/** A git folder, and the one that it names as the place of its objects, config and hooks. */
function placesOf(folder: string): readonly string[] {
  const named = kindOf(folder) === ".git" ? smallText(join(folder, "commondir"))?.trim() : undefined;
  return named === undefined || named === "" ? [folder] : [folder, resolve(folder, named)];
}

/** Whether a folder is what a repository keeps about one of its worktrees. It is then looked at with the repository. */
export function isWorktreeFolder(folder: string): boolean {
  const repository = dirname(dirname(folder));
  return (
    basename(dirname(folder)) === "worktrees" && placesOf(folder)[1] === repository && isGitFolder(repository)
  );
}

/**
 * The folders that configs of git name for hooks, and these configs with the files that they include, under whichever
 * condition: a workspace may bring them along.
 */
export function followConfig(start: readonly string[]): GitSettings {
  const files = new Set(start);
  const hooks: string[] = [];
  for (const file of files) {
    const text = smallText(realPath(file) ?? file) ?? "";
    hooks.push(...valuesOf("hooksPath", text));
    const included = valuesOf("path", text).map((path) => atHome(path, dirname(file)));
    for (const path of included) if (files.size < limit) files.add(path);
  }
  return { hooks, files: [...files] };
}

/** The values of a setting in a config of git, of whichever section. In linear time: a command may have written the text. */
function valuesOf(name: string, text: string): readonly string[] {
  return settingsIn(text).flatMap((setting) => {
    const [, key = "", quoted, plain = ""] =
      /^([a-z][a-z0-9-]*)\s*=\s*(?:"([^"]+)"|([^";#]+))/i.exec(setting) ?? [];
    return key.toLowerCase() === name.toLowerCase() ? [quoted ?? plain.trim()] : [];
  });
}

/** The lines of a config of git, without the names of sections. */
function settingsIn(text: string): readonly string[] {
  return text.split(/(?<!\\)\r?\n/).map((line) => {
    let setting = line.replaceAll(/\\\r?\n/g, "").trim();
    for (let end = 0; setting.startsWith("[") && end >= 0; ) {
      end = setting.indexOf("]");
      if (end >= 0) setting = setting.slice(end + 1).trimStart();
    }
    return setting;
  });
}

function atHome(path: string, base: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(base, path);
}

/**
 * The links of worktrees to their repository, and their settings, with their texts. They are compared after a command:
 * many mounts would cost much time, and git must be able to add and remove worktrees.
 */
export function keptIn(folder: string): ReadonlyMap<string, string> {
  const paths = worktreesOf(folder).flatMap((path) => [
    join(path, "commondir"),
    join(path, "config.worktree"),
  ]);
  return new Map(
    paths.flatMap((path): [string, string][] => {
      const text = smallText(path);
      return text === undefined ? [] : [[path, text]];
    }),
  );
}

/**
 * The commands that `git rebase --continue` would run, by the file that lists them. The files stay writable, because git
 * writes them whenever it rebases. Submodules and worktrees have their own.
 */
export function rebaseCommands(folder: string): ReadonlyMap<string, readonly string[]> {
  const places = [folder, ...worktreesOf(folder)].map((path) => join(path, "rebase-merge/git-rebase-todo"));
  const own = places.filter(isThere).map((path): [string, readonly string[]] => {
    const text = smallText(path, 10_000_000);
    // git follows links
    if (text === undefined) return [path, ["it cannot be read"]];
    return [path, text.split("\n").filter((line) => /^[ \t]*(?:exec|x)[ \t]/.test(line))];
  });
  return new Map([...own, ...modulesOf(folder).flatMap((each) => [...rebaseCommands(each)])]);
}

function worktreesOf(folder: string): readonly string[] {
  return foldersIn(join(folder, "worktrees"))
    .slice(0, limit)
    .map((name) => join(folder, "worktrees", name));
}

/** The git folders of submodules. */
function modulesOf(folder: string): readonly string[] {
  return inModules(folder).filter((path) => linkTarget(path) === undefined);
}

/** What git takes for the git folders of submodules, theirs too, and links that may lead to one. */
export function submodulesIn(folder: string): readonly string[] {
  return [...inModules(folder), ...modulesOf(folder).flatMap(submodulesIn)];
}

/** Git folders, and links, which are not followed: they can lead in circles. Names of submodules may have slashes. */
function inModules(folder: string): readonly string[] {
  const found: string[] = [];
  const open = [join(folder, "modules")];
  for (const path of open) {
    if (open.length > modulesLimit) return [...found, join(folder, "modules")];
    const names = linkTarget(path) === undefined ? entriesIn(path) : undefined;
    if (names === undefined || looksLikeRepository(names)) found.push(path);
    else
      open.push(
        ...names
          .map((name) => join(path, name))
          .filter((each) => typeOf(each) === "folder" || linkTarget(each) !== undefined),
      );
  }
  return found;
}

/** Whether git takes a folder for a repository. */
function isGitFolder(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => isThere(join(folder, name)));
}

/** The folder that a `.git` names that is a file. */
export function namedFolder(link: string): string | undefined {
  // git reads it through links
  const target = /^gitdir: (.+)\n?$/.exec(smallText(realPath(link) ?? link) ?? "")?.[1];
  const folder = target === undefined ? undefined : realPath(resolve(dirname(link), target));
  return folder !== undefined && typeOf(folder) === "folder" ? folder : undefined;
}

/**
 * The git folder of a root whose `.git` is a file, as in a worktree or a submodule: the folder that holds its objects. It
 * counts only if it points back at the root. Otherwise a command could write such a file and have any folder opened.
 */
export function gitFolderOf(root: string): string | undefined {
  const link = join(root, ".git");
  const folder = namedFolder(link);
  if (folder === undefined) return undefined;
  const common = smallText(join(folder, "commondir"))?.trim();
  if (common === undefined) return worktreeOfModule(folder) === root ? folder : undefined;
  const back = smallText(join(folder, "gitdir"))?.trim();
  if (back === undefined || realPath(resolve(folder, back)) !== link) return undefined;
  const shared = realPath(resolve(folder, common));
  // a workspace can bring along a folder that answers for itself, but cannot put it into the repository of somebody else
  if (shared === undefined || dirname(folder) !== join(shared, "worktrees")) return undefined;
  return isGitFolder(shared) ? shared : undefined;
}

/** The work tree that the config of a submodule names. */
function worktreeOfModule(folder: string): string | undefined {
  const [named] = valuesOf("worktree", smallText(join(folder, "config")) ?? "");
  return named === undefined ? undefined : realPath(resolve(folder, named));
}

/** Lines that git itself writes into the config of a new repository. They name no program. Without blanks around them. */
const plainLine =
  /^(?:$|[#;]|\[(?:core|user|init|extensions|(?:remote|branch|submodule) "[^"\\]*")\]$|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|worktree|url|fetch|merge|remote|active|name|email|objectformat|refstorage|tagopt)\b[ \t]*=(?!.*\\$))/i;

/**
 * What a command has put into a repository that it created, and that git would run or obey: hooks that are no samples, and
 * settings that git does not write by itself. A `.git` that leads to a folder with such things counts itself, unless it is
 * one of those that were there before.
 */
export function plantedIn(repository: string, before: readonly string[]): readonly string[] {
  const folder = typeOf(repository) === "file" ? namedFolder(repository) : realPath(repository);
  if (folder === undefined || before.includes(folder)) return [];
  if (folder !== repository) return plantedIn(folder, before).length > 0 ? [repository] : [];
  if (isWorktreeFolder(repository)) {
    const own = join(repository, "config.worktree");
    return [
      ...plantedIn(dirname(dirname(repository)), before),
      ...(isThere(own) && !isPlain(own) ? [own] : []),
    ];
  }
  const paths = (obeyed.get(kindOf(repository)) ?? []).map((path) => join(repository, path)).filter(isThere);
  const own = kindOf(repository) === ".git" ? paths.filter((path) => !isPlain(path)) : paths;
  return [...own, ...modulesOf(repository).flatMap((path) => plantedIn(path, before))];
}

/** Of the paths that git obeys. */
function isPlain(path: string): boolean {
  if (basename(path) === "hooks")
    return linkTarget(path) === undefined && entriesIn(path).every((name) => name.endsWith(".sample"));
  return (
    basename(path) !== "commondir" &&
    (smallText(path)
      ?.split("\n")
      .every((line) => plainLine.test(line.trim())) ??
      false)
  );
}
