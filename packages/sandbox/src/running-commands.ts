// Knows the sandboxed commands of this process that run, because they can exchange folders while another one starts.

import { type Entry, isAtOrBelow } from "./mounts/layout.ts";

/** A command that runs: what it can write, and the paths that are mounts for it, which it cannot rename. */
export interface RunningCommand {
  readonly writable: readonly string[];
  readonly mounts: ReadonlySet<string>;
}

const running = new Set<RunningCommand>();

/** Returns a function to call when the command has ended. */
export function commandRuns(command: RunningCommand): () => void {
  running.add(command);
  return () => running.delete(command);
}

/**
 * The entries that no running command can exchange for a link before bubblewrap mounts them, which would show or open
 * what the link leads to. Covers are always safe: what they mount is empty.
 */
export function safeEntries(entries: readonly Entry[], roots: readonly string[]): readonly Entry[] {
  const canRename = ({ writable: folders, mounts }: RunningCommand, path: string) =>
    !mounts.has(path) && folders.some((folder) => isAtOrBelow(path, folder));
  return entries.filter(
    ({ path, how }) =>
      how === "hidden" ||
      how === "empty" ||
      // without them there is nothing to work on
      roots.includes(path) ||
      ![...running].some((command) => canRename(command, path)),
  );
}
