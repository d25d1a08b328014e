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

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * Moves a file or folder into `folder` and returns its new path.
 *
 * @throws {Error} When it is not where it was found, or cannot be moved.
 */
export function moveAside(path: string, folder: string): string {
  const day = new Date().toISOString().slice(0, 10);
  const place = join(folder, `${day}-${randomBytes(4).toString("hex")}`);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const target = join(place, basename(path));
  inFolderOf(path, (same) => move(same, target));
  return target;
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
