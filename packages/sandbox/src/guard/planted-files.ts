// Compares the workspace before and after a command: finds new hooks and settings and moves them aside.

import { readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isAtOrBelow } from "../mounts/layout.ts";
import { isRepositoryFolder } from "../paths/project-names.ts";
import { type Aside, moveAside, restore } from "./move-aside.ts";
import { entriesIn, identityOf, isThere, smallText, stampOf, typeOf } from "./path-facts.ts";
import { plantedIn } from "./repositories.ts";
import { type Found, projectOf } from "./watched-folders.ts";

/** What a command left behind that other programs would execute or obey. */
export interface SandboxFindings {
  /** New hooks and settings, which were moved out of the workspace. */
  readonly movedAside: readonly { readonly from: string; readonly to: string }[];
  /**
   * New repositories, the hooks and settings in folders that were created with them, and files in new projects that only
   * may be settings. They stay where they are.
   */
  readonly created: readonly string[];
  /** New hooks and settings that stay where they are, with the reason. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
  /** Whether the workspace has more folders than were searched. */
  readonly isIncomplete: boolean;
}

export const nothingFound: SandboxFindings = { movedAside: [], created: [], left: [], isIncomplete: false };

/** The text of a file or the target of a link that must stay as it is. */
export type Kept = { readonly text: string } | { readonly link: string };

/** What was known before the command started. */
export interface Before {
  readonly found: Found;
  /** Protected paths that did not exist, so that nothing could be mounted there. */
  readonly missing: readonly string[];
  readonly kept: ReadonlyMap<string, Kept>;
  /** The folders of repositories and submodules. */
  readonly gitFolders: readonly string[];
  /** Mounted files, by what identifies each. A file that is replaced outside loses its mount. */
  readonly files: ReadonlyMap<string, string>;
  /** Protected paths without a mount, by what changes when they are written. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** More than this stays where it is. A command may have created any number. */
const limit = 500;

/** What to do about new files. */
export interface Treatment {
  /** The folder to move a path to, or the reason to leave it where it is. */
  asideOf(path: string): Aside | { readonly reason: string };
  /** Whether the user has opened exactly this path. */
  isOpened(path: string): boolean;
  /** Files that somebody else has written meanwhile, with their texts. Others than hooks and settings do not count. */
  readonly accepted: ReadonlyMap<string, string>;
}

/** Moves what is new aside. */
export function plantedFiles(before: Before, after: Found, treatment: Treatment): SandboxFindings {
  const { found, missing, files } = before;
  const guarded = [...after.obeyed, ...missing, ...files.keys()];
  const accepted = new Map(
    [...treatment.accepted].filter(([path]) => guarded.some((each) => isAtOrBelow(path, each))),
  );
  const repositories = [...after.repositories].filter((path) => !found.repositories.has(path));
  // a folder that existed before belongs to the user, also if it is a repository now
  const newFolders = repositories
    .map((path) => (isRepositoryFolder(basename(path)) ? dirname(path) : path))
    .filter((path) => !found.folders.has(path));
  const movedAside: { from: string; to: string }[] = [];
  const created = [...repositories];
  const left: { path: string; reason: string }[] = [];
  const attempt = (path: string, change: () => void) => {
    try {
      if (movedAside.length >= limit) throw new Error(`more than ${limit} were moved aside`);
      change();
    } catch (error) {
      left.push({ path, reason: error instanceof Error ? error.message : String(error) });
    }
  };
  const move = (path: string) => {
    const aside = treatment.asideOf(path);
    if ("reason" in aside) throw new Error(aside.reason);
    movedAside.push({ from: path, to: moveAside(path, aside) });
  };
  const kept = new Map(before.kept);
  for (const [path, text] of accepted) if (isThere(path)) kept.set(path, { text });
  const isNew = (path: string) => !found.obeyed.has(path) && !treatment.isOpened(path);
  const isInNewFolder = (path: string) =>
    newFolders.some((folder) => isAtOrBelow(path, folder)) ||
    (after.guessed.has(path) && !found.isIncomplete && !found.folders.has(projectOf(path)));
  for (const path of [...after.obeyed].filter(isNew).flatMap((each) => notAccepted(each, accepted))) {
    if (isInNewFolder(path)) created.push(path);
    else if (!found.isIncomplete || found.folders.has(dirname(path))) attempt(path, () => move(path));
    else
      left.push({ path, reason: "its folder was not searched before, so it may be older than the command" });
  }
  // in a folder that was there, a person may be at work
  const isInKnown = (path: string) =>
    found.folders.has(isRepositoryFolder(basename(path)) ? dirname(path) : path);
  for (const path of repositories.filter((each) => isInKnown(each) && !treatment.isOpened(each)))
    for (const planted of plantedIn(path, before.gitFolders)) attempt(planted, () => move(planted));
  for (const path of missing.filter(isThere).flatMap((each) => notAccepted(each, accepted)))
    attempt(path, () => move(path));
  for (const [path, was] of files)
    if (!accepted.has(path) && identityOf(path) !== was) left.push({ path, reason: replaced });
  for (const [path, was] of before.stamps)
    if (!accepted.has(path) && stampOf(path) !== was) left.push({ path, reason: unmounted });
  for (const [path, was] of kept) {
    if (typeOf(dirname(path)) !== "folder" || isUnchanged(path, was, accepted.has(path))) continue;
    attempt(path, () => {
      if (isThere(path)) move(path);
      restore(path, was);
    });
  }
  return { movedAside, created, left, isIncomplete: found.isIncomplete || after.isIncomplete };
}

const unmounted =
  "it was changed while the command ran; there are too many such files to make each read-only";
const replaced = "it was replaced while the command ran, which could change it from then on";

/** Commands that are new in the list of a rebase. They stay, because the rebase may be what the user wanted. */
export function newCommands(
  before: ReadonlyMap<string, readonly string[]>,
  after: ReadonlyMap<string, readonly string[]>,
): SandboxFindings["left"] {
  const isNew = (path: string, line: string) => before.get(path)?.includes(line) !== true;
  return [...after]
    .filter(([path, lines]) => lines.some((line) => isNew(path, line)))
    .map(([path]) => ({ path, reason: rebases }));
}

const rebases = "git rebase --continue would run the commands in it, outside the sandbox";

/** A folder may be new because of an accepted file: then the others in it are not. */
function notAccepted(path: string, accepted: ReadonlyMap<string, string>): string[] {
  if (accepted.has(path)) return [];
  if (![...accepted.keys()].some((each) => isAtOrBelow(each, path))) return [path];
  return entriesIn(path).flatMap((name) => notAccepted(join(path, name), accepted));
}

/** `isLoose`: whoever wrote the text may have kept the line ends and the byte order mark that the file had. */
function isUnchanged(path: string, was: Kept, isLoose: boolean): boolean {
  if ("text" in was) {
    const plain = (text = "") => (isLoose ? text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n") : text);
    const now = smallText(path, Math.max(100_000, 4 * was.text.length + 4));
    return now !== undefined && plain(now) === plain(was.text);
  }
  try {
    return readlinkSync(path) === was.link;
  } catch {
    return false;
  }
}
