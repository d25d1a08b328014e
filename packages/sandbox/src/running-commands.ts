// Knows the sandboxed commands of this user that run, because they can exchange folders while another one starts. Those
// of other processes are known by files.

import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isProcessRunning, processKey, replaceFileSync } from "@parley/acp/node";
import { isAtOrBelow, type LayoutEntry } from "./mounts/layout.ts";

/** A command that runs: what it can write, and the paths that are mounts for it, which it cannot rename. */
export interface RunningCommand {
  readonly writable: readonly string[];
  readonly mounts: readonly string[];
}

/** No sandbox shows this /tmp. It does not depend on variables, so that all processes find it. */
const runsFolder = `/tmp/parley-sandboxes-${process.getuid?.() ?? 0}`;

let count = 0;

/** The commands of this process. */
const own = new Set<RunningCommand>();

/** The folder with those files, which no command may see. */
export function folderOfRuns(): string {
  try {
    mkdirSync(runsFolder, { recursive: true, mode: 0o700 });
  } catch {
    // see commandRuns
  }
  return runsFolder;
}

/** Returns a function to call when the command has ended. */
export function commandRuns(command: RunningCommand): () => void {
  const file = join(runsFolder, `${processKey()}-${count++}`);
  own.add(command);
  try {
    folderOfRuns();
    if (isOwn()) {
      replaceFileSync(file, JSON.stringify(command), { flush: false });
    }
  } catch {
    // without a place for the file, other processes do not know of the command
  }
  return () => {
    own.delete(command);
    remove(file);
  };
}

/**
 * The entries that no running command can exchange for a link before bubblewrap mounts them, which would show or open
 * what the link leads to. Covers are always safe: what they mount is empty.
 */
export function safeEntries(
  entries: readonly LayoutEntry[],
  roots: readonly string[],
): readonly LayoutEntry[] {
  const running = [...own, ...commandsOfOthers()];
  const canRename = ({ writable, mounts }: RunningCommand, path: string) =>
    !mounts.includes(path) && writable.some((each) => isAtOrBelow(path, each));
  return entries.filter(
    ({ path, how }) =>
      how === "hidden" ||
      how === "empty" ||
      // without them there is nothing to work on
      roots.includes(path) ||
      !running.some((command) => canRename(command, path)),
  );
}

/** Whether a command that runs has a mount at a path. It would lose it if the path were removed. */
export function isMounted(path: string): boolean {
  return [...own, ...commandsOfOthers()].some(({ mounts }) => mounts.includes(path));
}

function commandsOfOthers(): readonly RunningCommand[] {
  if (!isOwn()) return [];
  return readdirSync(runsFolder).flatMap((name): RunningCommand[] => {
    const [key = ""] = name.split("-");
    if (name.endsWith(".new") || key === processKey()) return [];
    const file = join(runsFolder, name);
    // a process that was killed leaves its files
    if (!isProcessRunning(key)) remove(file);
    try {
      return [JSON.parse(readFileSync(file, "utf8")) as RunningCommand]; // only we write there
    } catch {
      return []; // it has ended
    }
  });
}

/** Another user may have created a folder of that name. */
function isOwn(): boolean {
  const stats = lstatSync(runsFolder, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
    rmdirSync(runsFolder);
  } catch {
    // there are others
  }
}
