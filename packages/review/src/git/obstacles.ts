// Finds what git would wait for: a pipe or a device where it expects a file. An agent can put one there.

import { statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type BytePath, fsPath, shownPath } from "../files/version.ts";
import { readPlainFile } from "./plain-file.ts";
import type { Repository } from "./repository.ts";

/** Files that git reads in every folder of a working tree. */
const inFolders = [".gitignore", ".gitattributes"];
/** Folders that a search visits at most. */
const mostFolders = 20_000;
const mostAlternates = 20;

/** Something that is not a file, in the place of one. */
export interface Obstacle {
  readonly path: string;
  readonly what: string;
}

/** The first one among the files that git always reads, and those that it reads in these folders. */
export async function obstacleIn(
  { worktree, commonDir }: Repository,
  folders: Iterable<BytePath>,
): Promise<Obstacle | undefined> {
  for (const name of [...inFolders, ".gitmodules"]) {
    const found = obstacleAt(join(worktree, name));
    if (found !== undefined) return found;
  }
  const objects = await obstacleInObjects(join(commonDir, "objects"));
  if (objects !== undefined) return objects;
  let count = 0;
  for (const folder of folders) {
    for (const name of inFolders) {
      const found = obstacleAt(fsPath(worktree, `${folder}/${name}`));
      if (found !== undefined) return found;
    }
    count += 1;
    if (count % 500 === 0) await setImmediate();
  }
  return undefined;
}

/** Looks through the whole working tree. For a git that took too long. */
export async function searchObstacle(worktree: string): Promise<Obstacle | undefined> {
  const folders = [worktree];
  for (let count = 0; count < mostFolders; count += 1) {
    const folder = folders.pop();
    if (folder === undefined) return undefined;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const found = inFolders.includes(entry.name) ? obstacleAt(path) : undefined;
      if (found !== undefined) return found;
      // a repository in it: git asks what it has checked out
      if (entry.name === ".git" && folder !== worktree) {
        const head = obstacleAt(join(path, "HEAD"));
        if (head !== undefined) return head;
      } else if (entry.isDirectory() && entry.name !== ".git") folders.push(path);
    }
  }
  return undefined;
}

/** What is there, if it is neither a file nor a folder. Links are followed, as git does. */
export function obstacleAt(path: string | Buffer): Obstacle | undefined {
  let found: ReturnType<typeof statSync> | undefined;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
  if (found === undefined || found.isFile() || found.isDirectory()) return undefined;
  const what = found.isFIFO() ? "a pipe" : found.isSocket() ? "a socket" : "a device";
  return { path: typeof path === "string" ? path : shownPath(path.toString("latin1")), what };
}

/** The lists and packs of a store of objects, and of those that it names. */
async function obstacleInObjects(first: string): Promise<Obstacle | undefined> {
  const stores = [first];
  for (let at = 0; at < Math.min(stores.length, mostAlternates); at += 1) {
    const store = stores[at] ?? first;
    for (const folder of [join(store, "info"), join(store, "info/commit-graphs"), join(store, "pack")]) {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const found = entry.isFile() ? undefined : obstacleAt(join(folder, entry.name));
        if (found !== undefined) return found;
      }
    }
    const named = (await readPlainFile(join(store, "info/alternates")))?.bytes.toString("utf8") ?? "";
    for (const line of named.split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      const path = isAbsolute(line) ? line : join(store, line);
      const isFolder = await stat(path).then(
        (it) => it.isDirectory(),
        () => false,
      );
      if (isFolder && !stores.includes(path)) stores.push(path);
    }
  }
  return undefined;
}
