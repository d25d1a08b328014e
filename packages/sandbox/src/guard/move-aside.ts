// Moves files that a command has planted out of the workspace. Nothing is deleted.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  cpSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isThere, realPathOrMissing } from "./path-facts.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/** Where something is moved to: a folder for everything that is moved together, and the name in it. */
export interface Aside {
  readonly folder: string;
  readonly name: string;
}

/** A folder for what is moved together. It is created when something is moved. */
export function asideFolder(parent: string): string {
  const day = new Date().toISOString().slice(0, 10);
  return join(parent, `${day}-${randomBytes(4).toString("hex")}`);
}

/**
 * Moves a file or folder and returns its new path.
 *
 * @throws {Error} When it is not where it was found, or cannot be moved.
 */
export function moveAside(path: string, { folder, name }: Aside): string {
  const target = join(folder, name);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  if (isThere(target)) throw new Error(`${target} exists already`);
  inFolderOf(path, (same) => move(same, target));
  return target;
}

/**
 * Moves a file or folder back to where it was.
 *
 * @throws {Error} When something is there by now, or it cannot be moved.
 */
export function moveBack(from: string, to: string): void {
  if (realPathOrMissing(dirname(to)) === dirname(to)) mkdirSync(dirname(to), { recursive: true });
  inFolderOf(to, (same) => {
    if (isThere(same)) throw new Error(`${to} exists by now`);
    move(from, same);
  });
}

/** Writes a file or link that is gone. */
export function restore(path: string, was: { readonly text: string } | { readonly link: string }): void {
  inFolderOf(path, (same) =>
    "text" in was ? writeFileSync(same, was.text, { flag: "wx" }) : symlinkSync(was.link, same),
  );
}

/** Calls a function with another name of the path, which stays the same file if folders are exchanged for links. */
function inFolderOf(path: string, use: (same: string) => void): void {
  const parent = openSync(dirname(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const real = readlinkSync(`/proc/self/fd/${parent}`);
    if (real !== dirname(path)) throw new Error(`${dirname(path)} is now ${real}`);
    use(`/proc/self/fd/${parent}/${basename(path)}`);
  } finally {
    closeSync(parent);
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    // on another file system
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error; // what renameSync throws
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
    rmSync(from, { recursive: true, force: true });
  }
}
