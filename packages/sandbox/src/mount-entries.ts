// Decides what each path of a sandbox is: writable, readable, hidden.

import { realPath, realPathOrMissing, typeOf } from "./guard/path-facts.ts";
import { gitFolderOf, obeyedIn, worktreeLinks } from "./guard/repositories.ts";
import type { Found } from "./guard/watched-folders.ts";
import { type Entry, isAtOrBelow, layout } from "./mounts/layout.ts";
import { hostSockets } from "./network/host-sockets.ts";
import type { SandboxOptions, SandboxProfile } from "./policy/sandbox-policy.ts";
import { secretPaths } from "./policy/secrets.ts";
import { toolChains } from "./policy/tool-chains.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What stays the same for all commands of a sandbox. All paths are without links. */
export interface Grounds {
  readonly options: SandboxOptions;
  readonly profile: Exclude<SandboxProfile, "off">;
  readonly home: string;
  readonly roots: readonly string[];
  /** The git folders of roots that are worktrees or submodules. Found once, because a command could write such a link. */
  readonly gitFolders: readonly string[];
}

/** The mounts of one command. */
export interface MountEntries {
  readonly entries: readonly Entry[];
  /** Paths that must not be written and do not exist. Nothing can be mounted there. */
  readonly missing: readonly string[];
  /** Files that must keep their texts, see `worktreeLinks`. */
  readonly texts: ReadonlyMap<string, string>;
}

export function groundsOf(options: SandboxOptions, profile: Grounds["profile"], home: string): Grounds {
  const roots = [...new Set(options.roots.flatMap((root) => realPath(root) ?? []))];
  const gitFolders = roots.flatMap((root) => gitFolderOf(root) ?? []);
  return { options, profile, home: realPath(home) ?? home, roots, gitFolders: [...new Set(gitFolders)] };
}

/** Folders in which programs of the host meet: sockets of agents, desktops and daemons. */
const meetingPlaces = ["/run", "/var/run"];

/** What is at home in /run although it is no socket. */
const neededOfRun = [
  "/run/current-system",
  "/run/wrappers",
  "/run/opengl-driver",
  "/run/systemd/resolve/stub-resolv.conf",
];

export function mountEntries(grounds: Grounds, found: Found, env: Environment): MountEntries {
  const { options, profile, home, roots, gitFolders } = grounds;
  const isWritable = profile !== "read-only";
  const opened = isWritable
    ? [...roots, ...gitFolders, ...(options.write ?? []), ...(options.state ?? [])]
    : [...(options.write ?? []), ...(options.state ?? [])];
  const homes = profile === "strict" ? ["/home", "/root", home] : [];
  const covers = [...meetingPlaces, ...homes];
  const open: readonly Entry[] = [
    ...existing(covers, "empty").filter(({ type }) => type === "folder"),
    ...existing(secretPaths(home, env), "hidden"),
    ...existing([...(options.read ?? []), ...neededOfRun, ...(isWritable ? [] : roots)], "read"),
    ...toolEntries(env["PATH"], home, [...covers, "/tmp", "/var/tmp"]),
    ...existing(opened, "write"),
  ];
  const protectedPaths = isWritable ? obeyedPaths(grounds, found) : [];
  const denied: readonly Entry[] = [
    ...existing(options.readOnly ?? [], "read").map((entry) => ({ ...entry, denied: true })),
    ...existing(options.hide ?? [], "hidden").map((entry) => ({ ...entry, denied: true })),
  ];
  const isCovered = (path: string) =>
    [...meetingPlaces, "/tmp", "/var/tmp"].some((folder) => isAtOrBelow(path, folder));
  const inTmp = roots.filter(isCovered);
  const sockets = hostSockets((path) => isCovered(path) && !inTmp.some((root) => isAtOrBelow(path, root)));
  const all = [
    ...open,
    ...existing(protectedPaths, "read", opened),
    ...denied,
    ...sockets.map((path): Entry => ({ path, how: "hidden", type: "file", denied: true })),
  ];
  const wanted = [...protectedPaths, ...(options.readOnly ?? [])].map(realPathOrMissing);
  const repositories = isWritable ? [...gitFolders, ...found.repositories] : [];
  return {
    entries: layout(all),
    missing: [...new Set(wanted.filter((path) => typeOf(path) === undefined))],
    texts: new Map(repositories.flatMap((folder) => [...worktreeLinks(folder)])),
  };
}

/** The paths that exist, without links. Those in `except` are left out: the owner has opened them by name. */
function existing(paths: readonly string[], how: Entry["how"], except: readonly string[] = []): Entry[] {
  return paths.flatMap((path): Entry[] => {
    const real = realPath(path);
    const type = real === undefined ? undefined : typeOf(real);
    return real === undefined || type === undefined || except.includes(path)
      ? []
      : [{ path: real, how, type }];
  });
}

/** Entries of PATH are mounted where PATH looks for them, also if that is a link. */
function toolEntries(path: string | undefined, home: string, hidden: readonly string[]): Entry[] {
  return toolChains(path, home, hidden).flatMap((folder): Entry[] => {
    const source = realPath(folder);
    if (source === undefined || typeOf(source) !== "folder") return [];
    const shown: Entry = { path: source, how: "read", type: "folder" };
    return source === folder ? [shown] : [shown, { path: folder, how: "read", type: "folder", source }];
  });
}

/** Hooks and settings below the roots that must not be written. Some of them may not exist. */
function obeyedPaths({ gitFolders }: Grounds, found: Found): readonly string[] {
  const repositories = [...found.repositories];
  return [
    ...found.obeyed,
    // `.git` is a file in worktrees and submodules, and says where the repository is
    ...repositories.filter((path) => typeOf(path) === "file"),
    ...repositories.filter((path) => typeOf(path) === "folder").flatMap(obeyedIn),
    ...gitFolders.flatMap(obeyedIn),
  ];
}
