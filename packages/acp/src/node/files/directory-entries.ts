// Lists, removes and moves directory entries; a link itself, never its target.

import { readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { setImmediate as immediate } from "node:timers/promises";
import type { Handle, OpenedRoot } from "./directory-access.ts";
import { fileError, quotedPath, systemCode, throwIfAborted } from "./file-error.ts";
import type { FilePath } from "./file-path.ts";
import { existing } from "./read-file.ts";
import { danglingLink, type ResolvedPath, Walk } from "./walk.ts";
import type { Workspace } from "./workspace.ts";

/** An entry of a directory. */
export interface FolderEntry {
  /** Its name, without the directory. */
  readonly name: string;
  /** The kind of the entry itself: a symbolic link is a "link", whatever its target. */
  readonly kind: "file" | "directory" | "link" | "other";
}

/** The options of `remove`. */
export interface RemoveOptions {
  /** Removes a directory with everything in it. Default false: only an empty one. */
  readonly recursive?: boolean | undefined;
  /** Stops the removal; what is already removed stays removed. */
  readonly signal?: AbortSignal | undefined;
}

export function realPath({ roots, access }: Workspace, target: FilePath): string {
  const location = roots.locate(target.names);
  if (location === undefined) throw roots.outside(target.text);
  // missing names have no links, so resolve the deepest existing directory
  for (let left = target.names.length; ; left -= 1) {
    try {
      const resolved = new Walk(roots, access, { ...target, names: target.names.slice(0, left) }).toEnd();
      resolved.close();
      if (resolved.dangling) throw roots.outside(target.text, danglingLink);
      return [resolved.canonical.replace(/[\\/]$/, ""), ...target.names.slice(left)].join(
        process.platform === "win32" ? "\\" : "/",
      );
    } catch (error) {
      const reason =
        error instanceof Error && "data" in error ? (error.data as { reason?: string }).reason : "";
      if (reason !== "not_found" || left <= target.names.length - location.rest.length) throw error;
    }
  }
}

export function entriesOf({ roots, access }: Workspace, target: FilePath): FolderEntry[] {
  const resolved = new Walk(roots, access, target).toEnd();
  try {
    const directory = existing(resolved, target);
    if (!directory.stat.isDirectory()) {
      const message = `${quotedPath(target.text)} is not a directory; name one, or read the file`;
      throw fileError("not_a_directory", message, target.text);
    }
    access.confirm(directory.at, resolved.root);
    return readdirSync(`${directory.at}/.`, { withFileTypes: true })
      .map((entry): FolderEntry => {
        const kind = entry.isFile()
          ? "file"
          : entry.isDirectory()
            ? "directory"
            : entry.isSymbolicLink()
              ? "link"
              : "other";
        return { name: entry.name, kind };
      })
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  } finally {
    resolved.close();
  }
}

export async function removeEntry(
  workspace: Workspace,
  target: FilePath,
  options: RemoveOptions,
): Promise<void> {
  const { roots, access } = workspace;
  const resolved = new Walk(roots, access, target).toEnd({ keepLink: !target.directory });
  try {
    const entry = existing(resolved, target);
    refuseRoot(resolved, target, "removed");
    access.confirm(resolved.directory.at, resolved.root);
    const at = `${resolved.directory.at}/${resolved.name}`;
    if (!entry.stat.isDirectory()) unlinkSync(at);
    else {
      if (options.recursive === true) await emptyDirectory(workspace, resolved.root, target, options, entry);
      rmdirSync(at);
    }
  } finally {
    resolved.close();
  }
}

/** How many entries are removed per turn of the event loop. */
const atOnce = 200;

/** Empties a directory by handles, so that nothing that is put there meanwhile can lead outside. */
async function emptyDirectory(
  { access }: Workspace,
  root: OpenedRoot,
  target: FilePath,
  { signal }: RemoveOptions,
  top: Handle,
): Promise<void> {
  let count = 0;
  const empty = async (directory: Handle): Promise<void> => {
    for (const name of readdirSync(`${directory.at}/.`)) {
      if (++count % atOnce === 0) await immediate();
      throwIfAborted(signal, target.text);
      const entry = access.lookup(directory, name);
      if (entry === undefined) continue;
      try {
        const isDirectory = entry.stat.isDirectory();
        if (isDirectory) await empty(entry);
        access.confirm(directory.at, root);
        if (isDirectory) rmdirSync(`${directory.at}/${name}`);
        else unlinkSync(`${directory.at}/${name}`);
      } catch (error) {
        // already removed by somebody else
        if (systemCode(error) !== "ENOENT") throw error;
      } finally {
        entry.close();
      }
    }
  };
  await empty(top);
}

export function moveEntry({ roots, access }: Workspace, from: FilePath, to: FilePath): void {
  const source = new Walk(roots, access, from).toEnd({ keepLink: !from.directory });
  try {
    existing(source, from);
    refuseRoot(source, from, "moved");
    const destination = new Walk(roots, access, to).toEnd({ makeDirectories: true, keepLink: true });
    try {
      if (destination.entry !== undefined) {
        const message = `${quotedPath(to.text)} exists already; remove it first, or choose another name`;
        throw fileError("conflict", message, to.text);
      }
      if (destination.dangling) throw roots.outside(to.text, danglingLink);
      access.confirm(source.directory.at, source.root);
      access.confirm(destination.directory.at, destination.root);
      renameSync(`${source.directory.at}/${source.name}`, `${destination.directory.at}/${destination.name}`);
    } finally {
      destination.close();
    }
  } finally {
    source.close();
  }
}

function refuseRoot(resolved: ResolvedPath, target: FilePath, what: string): void {
  if (resolved.name !== "") return;
  const message = `${quotedPath(target.text)} is a root of the workspace and cannot be ${what}`;
  throw fileError("invalid_argument", message, target.text);
}
