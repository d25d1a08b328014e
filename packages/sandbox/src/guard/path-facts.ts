// Reads facts about paths. A path that cannot be read counts as missing.

import {
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/** The path without links, or undefined if it does not exist. */
export function realPath(path: string): string | undefined {
  try {
    // most paths that are asked about do not exist, and an error takes longer than a look
    return isThere(path) ? realpathSync.native(path) : undefined;
  } catch {
    return undefined;
  }
}

/** More links than this lead nowhere, as the system has it. */
const linkLimit = 40;

/** The path without links. Names at its end may be missing, also behind a link. */
export function realPathOrMissing(path: string, links = linkLimit): string {
  const real = realPath(path);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  const target = links === 0 ? undefined : linkTarget(path);
  // not joined: what is above a link is only known when the link was followed
  if (target !== undefined)
    return realPathOrMissing(isAbsolute(target) ? target : `${dirname(path)}/${target}`, links - 1);
  return join(realPathOrMissing(dirname(path), links), path.slice(path.lastIndexOf("/") + 1));
}

/** What a link says, or undefined if the path is no link. */
export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** What a path leads to. Sockets, pipes and devices count as files. */
export function typeOf(path: string): "file" | "folder" | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? undefined : stats.isDirectory() ? "folder" : "file";
  } catch {
    return undefined;
  }
}

/** Whether there is anything of that name, a broken link included. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Whether this user may read a path, or could allow it. */
export function mayRead(path: string): boolean {
  try {
    const { uid, mode } = statSync(path);
    if (uid === process.getuid?.() || (mode & 0o005) !== 0) return true;
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a sandboxed command could get to a path. Root has no capabilities there, so folders of other users can be
 * closed to it. Bubblewrap cannot mount anything in them either.
 */
export function isReachable(path: string): boolean {
  // others see what they can reach
  if (process.getuid?.() !== 0) return true;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    const may = stats.uid === 0 ? 0o100 : stats.gid === 0 ? 0o010 : 0o001;
    if ((stats.mode & may) === 0) return false;
    if (folder === "/") return true;
  }
}

/** A small file. Anything that is not a regular file counts as missing, because reading a pipe would wait. */
export function smallText(path: string, limit = 100_000): string | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size < limit ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** The small files at or below a path, with their texts. Links are not followed, and there is a limit. */
export function smallFilesIn(path: string): readonly (readonly [path: string, text: string])[] {
  const files: (readonly [string, string])[] = [];
  const waiting = [path];
  for (const each of waiting) {
    if (waiting.length > 1_000) break;
    const text = smallText(each);
    if (text !== undefined) files.push([each, text]);
    else if (lstatSync(each, { throwIfNoEntry: false })?.isDirectory() === true)
      waiting.push(...entriesIn(each).map((name) => join(each, name)));
  }
  return files;
}

/** Another one where another file has taken its place. */
export function identityOf(path: string): string | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    return stats === undefined ? undefined : `${stats.dev}/${stats.ino}/${stats.birthtimeNs}`;
  } catch {
    return undefined;
  }
}

/** Another one where a file, or a file below a folder, was written or replaced. Links are not followed. */
export function stampOf(path: string): string {
  const stamps: string[] = [];
  const waiting = [path];
  for (const each of waiting) {
    if (stamps.length > 100) break;
    const stats = lstatSync(each, { throwIfNoEntry: false, bigint: true });
    // ctime, because a program can set the other times
    stamps.push(`${stats?.ino}/${stats?.ctimeNs}`);
    if (stats?.isDirectory() === true) waiting.push(...entriesIn(each).map((name) => join(each, name)));
  }
  return stamps.join(" ");
}

export function entriesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function foldersIn(folder: string): readonly string[] {
  try {
    if (typeOf(folder) !== "folder") return [];
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
