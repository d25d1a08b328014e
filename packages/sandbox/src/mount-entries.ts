// Decides what each path of a sandbox is: writable, readable, hidden.

import { userInfo } from "node:os";
import { dirname, isAbsolute, join, normalize, relative, resolve } from "node:path";
import {
  identityOf,
  isReachable,
  linkTarget,
  mayRead,
  realPath,
  realPathOrMissing,
  typeOf,
} from "./guard/path-facts.ts";
import type { Kept } from "./guard/planted-files.ts";
import {
  createFolder,
  type GitSettings,
  gitFolderOf,
  isWorktreeFolder,
  keptIn,
  missingHooks,
  namedFolder,
  obeyedIn,
  rebaseCommands,
  submodulesIn,
} from "./guard/repositories.ts";
import type { Found } from "./guard/watched-folders.ts";
import { isAtOrBelow, type LayoutEntry, layout } from "./mounts/layout.ts";
import { hostSockets, isSocket } from "./network/host-sockets.ts";
import type { SandboxOptions, SandboxProfile } from "./policy/sandbox-policy.ts";
import { secretPaths } from "./policy/secrets.ts";
import { toolChains } from "./policy/tool-chains.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What stays the same for all commands of a sandbox. All paths are without links. */
export interface Grounds {
  readonly options: SandboxOptions;
  readonly profile: Exclude<SandboxProfile, "off">;
  readonly home: string;
  /** Our own environment. That of a command says nothing about where secrets and tools are: an agent may have set it. */
  readonly env: Environment;
  readonly roots: readonly string[];
  /** What can be written: the roots, the git folders of worktrees and submodules, and what the owner has opened. */
  readonly writable: readonly string[];
  /** Found once, because a command could write the link that names such a folder. */
  readonly gitFolders: readonly string[];
  /** The paths that the owner has opened by name, also if they do not exist. */
  readonly opened: readonly string[];
  /** What the user's own settings of git say about all repositories. */
  readonly gitSettings: GitSettings;
  /** Sockets of the host. Found once: to search takes time, and services stay. One that appears later is not hidden. */
  readonly sockets: readonly string[];
}

/** The mounts of one command. */
export interface MountEntries {
  readonly entries: readonly LayoutEntry[];
  /** Paths that must not be written, but have no mount, because they do not exist or are too many. */
  readonly notMounted: readonly string[];
  /** Those of them that do not exist. */
  readonly missing: readonly string[];
  /** Links and small files that must stay as they are. */
  readonly kept: ReadonlyMap<string, Kept>;
  /** The git folders that there are, also those of submodules, and links in their place. */
  readonly gitFolders: readonly string[];
  /** Mounted files, by what identifies each. */
  readonly files: ReadonlyMap<string, string>;
}

/** Each mount takes time. */
const protectedLimit = 150;
const socketLimit = 100;

export function groundsOf(
  options: SandboxOptions,
  profile: Grounds["profile"],
  home: string,
  env: Environment,
  gitSettings: GitSettings,
): Grounds {
  const roots = unique(options.roots.flatMap((root) => realPath(root) ?? []));
  const gitFolders = unique(roots.flatMap((root) => gitFolderOf(root) ?? []));
  const write = (options.write ?? []).filter((path) => !leadsElsewhere(path, options.roots));
  const named = openedPaths([...write, ...(options.state ?? [])], roots);
  const writable = unique([...(profile === "read-only" ? [] : [...roots, ...gitFolders]), ...named]);
  const sockets = unique(hostSockets().flatMap((path) => realPath(path) ?? []));
  return {
    options,
    profile,
    home: realPath(home) ?? home,
    env,
    roots,
    writable,
    gitFolders,
    opened: write.map((path) => realPathOrMissing(path)).filter((path) => !roots.includes(path)),
    gitSettings,
    sockets,
  };
}

/** Folders in which programs of the host meet: sockets of agents, desktops and daemons. */
const meetingPlaces = ["/run", "/var/run"];

/** What may be in /run although it is no socket. The first often is a link to it. */
const neededOfRun = ["/etc/resolv.conf", "/run/current-system", "/run/wrappers", "/run/opengl-driver"];

/** Folders that are another one inside. */
const temporaryPlaces = ["/tmp", "/var/tmp"];

/**
 * `program`: the command, which may be installed in a folder that is another one inside. `own`: folders of the sandbox
 * itself, which a command could exchange if they are in its workspace.
 */
export function mountEntries(
  grounds: Grounds,
  found: Found,
  { program, own }: { readonly program: string; readonly own: readonly string[] },
): MountEntries {
  const { options, profile, home, env, roots, writable } = grounds;
  // HOME may name another folder than the one that has the user's keys
  const homes = unique([home, ...accountHome()]);
  const covers = [...meetingPlaces, ...(profile === "strict" ? ["/home", "/root", ...homes] : [])];
  // what this user cannot read needs no mount, which takes time
  const secrets = existing(
    homes.flatMap((each) => secretPaths(each, env)),
    "hidden",
  ).filter(({ path }) => mayRead(path));
  const shown = [
    ...existing([...openedPaths(options.read ?? [], roots), ...neededOfRun, ...roots], "read"),
    ...[
      ...toolEntries((env["PATH"] ?? "").split(":"), home, [...covers, ...temporaryPlaces]),
      ...programEntries(program, home),
    ].filter(({ path, source = path }) => !secrets.some((secret) => isAtOrBelow(source, secret.path))),
  ];
  const entries = [
    ...existing(covers, "empty").filter(({ type }) => type === "folder"),
    ...secrets,
    ...shown,
    ...existing(writable, "write"),
  ];
  const opened = [...writable, ...shown.map(({ path }) => path)];
  const isInvisible = (path: string) =>
    [...meetingPlaces, ...temporaryPlaces, "/dev"].some((folder) => isAtOrBelow(path, folder)) &&
    !opened.some((folder) => isAtOrBelow(path, folder));
  const isWritable = (path: string) => writable.some((folder) => isAtOrBelow(path, folder));
  const sockets = grounds.sockets
    .filter((path) => !isInvisible(path) && isSocket(path))
    // an agent can create any number where it can write
    .sort((one, other) => Number(isWritable(one)) - Number(isWritable(other)))
    .slice(0, socketLimit)
    .map((path) => ({ path, type: "file" as const, mayVanish: true }));
  const obeyed = obeyedPaths(grounds, found);
  const isGuessed = (path: string) => Number(found.guessed.has(path));
  const protectedPaths = unique(obeyed.flatMap((path) => realPath(path) ?? []))
    .sort((one, other) => isGuessed(one) - isGuessed(other) || one.length - other.length)
    .slice(0, protectedLimit);
  const wanted = unique([
    ...obeyed.map((path) => realPathOrMissing(path)).filter(isWritable),
    ...(options.readOnly ?? []).map((path) => realPathOrMissing(path)),
  ]);
  // a mount protects what a link leads to, not the link
  const links = [...obeyed, ...found.repositories, ...(options.readOnly ?? [])]
    .filter((path) => realPath(path) !== path)
    .flatMap((path) => linksOn(path))
    .filter(([path]) => isWritable(path));
  const readOnly = existing(options.readOnly ?? [], "read").map(({ path }) => path);
  const missing = wanted.filter((path) => typeOf(path) === undefined);
  return {
    entries: layout({
      entries,
      protectedPaths,
      readOnly,
      replaced: temporaryPlaces,
      hidden: [...existing([...(options.hide ?? []), ...own], "hidden"), ...sockets],
    }),
    notMounted: wanted.filter(
      (path) => missing.includes(path) || ![...protectedPaths, ...readOnly].includes(path),
    ),
    missing,
    files: new Map(
      [...protectedPaths, ...readOnly]
        .filter((path) => typeOf(path) === "file")
        .map((path) => [path, identityOf(path) ?? ""]),
    ),
    gitFolders: [...found.repositories, ...grounds.gitFolders, ...submodules(grounds, found)],
    kept: new Map([...links, ...found.repositories, ...grounds.gitFolders].flatMap(keptAt)),
  };
}

/** The commands of rebases that have stopped, by the file that lists them. */
export function stoppedRebases(
  { gitFolders, profile }: Grounds,
  found: Found,
): ReadonlyMap<string, readonly string[]> {
  if (profile === "read-only") return new Map();
  return new Map(unique([...found.repositories, ...gitFolders]).flatMap((path) => [...rebaseCommands(path)]));
}

/** A new one would be used by the user's next `git submodule update`. */
function submodules({ gitFolders, profile }: Grounds, found: Found): readonly string[] {
  if (profile === "read-only") return [];
  return unique([...found.repositories, ...gitFolders]).flatMap((path) => submodulesIn(path));
}

/** The git folders of submodules that were not there before, without those in other ones. */
export function newSubmodules(grounds: Grounds, found: Found, before: readonly string[]): readonly string[] {
  const all = submodules(grounds, found).filter((path) => !before.includes(path));
  return all.filter((path) => !all.some((each) => each !== path && isAtOrBelow(path, each)));
}

/** The paths without links. A path in a root that leads out of it opens nothing: a command can have made the link. */
function openedPaths(paths: readonly string[], roots: readonly string[]): readonly string[] {
  const isInRoot = (path: string) => roots.some((root) => isAtOrBelow(path, root));
  return paths.flatMap((path) => {
    const real = realPath(path);
    return real === undefined || (isInRoot(path) && !isInRoot(real)) ? [] : [real];
  });
}

/** Whether a path in a root leads through a link there, which a command can have made: it could be any protected file. */
function leadsElsewhere(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => {
    if (!isAtOrBelow(normalize(path), root)) return false;
    const plain = join(realPathOrMissing(root), relative(root, path));
    return realPathOrMissing(plain) !== plain;
  });
}

function existing(paths: readonly string[], how: LayoutEntry["how"]): LayoutEntry[] {
  return paths.flatMap((path): LayoutEntry[] => {
    const real = realPath(path);
    const type = real === undefined ? undefined : typeOf(real);
    return real === undefined || type === undefined || !isReachable(real) ? [] : [{ path: real, how, type }];
  });
}

/** A program in a temporary folder is shown with what is beside it. Its name comes from an agent, and may lead elsewhere. */
function programEntries(program: string, home: string): LayoutEntry[] {
  const isTemporary = (path: string) => temporaryPlaces.some((folder) => isAtOrBelow(path, folder));
  const real = isAbsolute(program) && normalize(program) === program ? realPath(program) : undefined;
  const folder = realPath(dirname(program));
  if (real === undefined || folder === undefined || !isTemporary(real) || !isTemporary(folder)) return [];
  // all of /tmp is too much
  if (temporaryPlaces.includes(folder)) return [{ path: program, how: "read", type: "file", source: real }];
  return toolEntries([dirname(program)], home, temporaryPlaces);
}

/** Folders of PATH are mounted where PATH looks for them, also if that is a link. */
function toolEntries(folders: readonly string[], home: string, hidden: readonly string[]): LayoutEntry[] {
  return toolChains(folders, home, hidden).flatMap((folder): LayoutEntry[] => {
    const source = realPath(folder);
    if (source === undefined || typeOf(source) !== "folder") return [];
    const shown: LayoutEntry = { path: source, how: "read", type: "folder" };
    return source === folder ? [shown] : [shown, { path: folder, how: "read", type: "folder", source }];
  });
}

/** The home that the system has for this user, if it knows the user. */
function accountHome(): string[] {
  try {
    return [realPath(userInfo().homedir) ?? []].flat();
  } catch {
    return [];
  }
}

/** Hooks and settings below the roots that must not be written. Some of them may not exist. */
function obeyedPaths(grounds: Grounds, found: Found): readonly string[] {
  const { gitFolders, gitSettings, opened, profile, roots } = grounds;
  if (profile === "read-only") return [];
  const repositories = [...found.repositories];
  const named = (link: string) => [namedFolder(link) ?? []].flat().filter((path) => !isWorktreeFolder(path));
  return unique([
    ...[...found.obeyed].filter((path) => !opened.includes(path)),
    // `.git` is a file in worktrees and submodules, and says where the repository is
    ...repositories.filter((path) => typeOf(path) === "file"),
    ...repositories
      .flatMap((path) => (typeOf(path) === "folder" ? path : named(path)))
      .flatMap((path) => obeyedIn(path, gitSettings)),
    ...gitFolders.flatMap((path) => obeyedIn(path, gitSettings, [dirname(path), ...roots])),
    ...gitSettings.files,
  ]);
}

/**
 * Creates the folders of hooks that do not exist, because only what exists can be mounted: a hook would otherwise be in
 * place as long as the command runs. Returns the folders that are new, the deepest first.
 */
export function createHookFolders(grounds: Grounds, found: Found): readonly string[] {
  const { gitFolders, gitSettings, profile, roots, writable } = grounds;
  if (profile === "read-only") return [];
  const isWritable = (path: string) => writable.some((folder) => isAtOrBelow(path, folder));
  return unique([
    ...[...found.repositories].flatMap((path) => missingHooks(path, gitSettings)),
    ...gitFolders.flatMap((path) => missingHooks(path, gitSettings, [dirname(path), ...roots])),
  ])
    .map((path) => realPathOrMissing(path))
    .filter(isWritable)
    .flatMap((path) => createFolder(path));
}

/** The links that a path leads through, with what they say. */
function linksOn(path: string, limit = 40): [string, Kept][] {
  const names = path.split("/");
  for (let at = 2; at <= names.length && limit > 0; at++) {
    const link = names.slice(0, at).join("/");
    const target = linkTarget(link);
    if (target === undefined) continue;
    const next = resolve(dirname(link), target, ...names.slice(at));
    return [[link, { link: target }], ...linksOn(next, limit - 1)];
  }
  return [];
}

function keptAt(each: string | [string, Kept]): [string, Kept][] {
  return typeof each === "string" ? [...keptIn(each)].map(([path, text]) => [path, { text }]) : [each];
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)];
}
