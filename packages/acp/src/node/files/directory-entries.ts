// What is in a directory: told, removed, moved. A link at the end of a path is itself what is removed or moved,
// never what it leads to; and a directory is emptied from the inside, by handles, so that nothing that is put
// there meanwhile can lead the way out.

import { readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { setImmediate as immediate } from "node:timers/promises";
import type { Handle, OpenedRoot } from "./descent.ts";
import { fileError, quoted, systemCode, throwIfAborted } from "./file-error.ts";
import type { FilePath } from "./file-path.ts";
import { existing } from "./read-file.ts";
import { danglingLink, type Place, Walk } from "./walk.ts";
import type { Workspace } from "./workspace.ts";

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "other";
}

export interface RemoveOptions {
  /** A directory goes with everything in it. Default false: only an empty one. */
  readonly recursive?: boolean;
  readonly signal?: AbortSignal;
}

export function locate({ roots, descent }: Workspace, target: FilePath): string {
  const location = roots.locate(target.names);
  if (location === undefined) throw roots.outside(target.text);
  // What is missing has no links: the path leads where its deepest directory leads.
  for (let left = target.names.length; ; left -= 1) {
    try {
      const place = new Walk(roots, descent, { ...target, names: target.names.slice(0, left) }).toEnd();
      place.close();
      if (place.dangling) throw roots.outside(target.text, danglingLink);
      return [place.canonical.replace(/[\\/]$/, ""), ...target.names.slice(left)].join(
        process.platform === "win32" ? "\\" : "/",
      );
    } catch (error) {
      const reason =
        error instanceof Error && "data" in error ? (error.data as { reason?: string }).reason : "";
      if (reason !== "not_found" || left <= target.names.length - location.rest.length) throw error;
    }
  }
}

export function entriesOf({ roots, descent }: Workspace, target: FilePath): DirectoryEntry[] {
  const place = new Walk(roots, descent, target).toEnd();
  try {
    const directory = existing(place, target);
    if (!directory.stat.isDirectory()) {
      const message = `${quoted(target.text)} is not a directory; name one, or read the file`;
      throw fileError("not_a_directory", message, target.text);
    }
    descent.confirm(directory.at, place.root);
    return readdirSync(`${directory.at}/.`, { withFileTypes: true })
      .map((entry): DirectoryEntry => {
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
    place.close();
  }
}

export async function removeEntry(
  workspace: Workspace,
  target: FilePath,
  options: RemoveOptions,
): Promise<void> {
  const { roots, descent } = workspace;
  const place = new Walk(roots, descent, target).toEnd({ keepLink: !target.directory });
  try {
    const entry = existing(place, target);
    refuseRoot(place, target, "removed");
    descent.confirm(place.directory.at, place.root);
    const at = `${place.directory.at}/${place.name}`;
    if (!entry.stat.isDirectory()) unlinkSync(at);
    else {
      if (options.recursive === true) await new Emptying(workspace, place.root, target, options).empty(entry);
      rmdirSync(at);
    }
  } finally {
    place.close();
  }
}

/** How many entries are removed before others get their turn. */
const atOnce = 200;

class Emptying {
  readonly #workspace: Workspace;
  readonly #root: OpenedRoot;
  readonly #target: FilePath;
  readonly #options: RemoveOptions;
  #count = 0;

  constructor(workspace: Workspace, root: OpenedRoot, target: FilePath, options: RemoveOptions) {
    this.#workspace = workspace;
    this.#root = root;
    this.#target = target;
    this.#options = options;
  }

  async empty(directory: Handle): Promise<void> {
    const { descent } = this.#workspace;
    for (const name of readdirSync(`${directory.at}/.`)) {
      if (++this.#count % atOnce === 0) await immediate();
      throwIfAborted(this.#options.signal, this.#target.text);
      const entry = descent.lookup(directory, name);
      if (entry === undefined) continue;
      try {
        const isDirectory = entry.stat.isDirectory();
        if (isDirectory) await this.empty(entry);
        descent.confirm(directory.at, this.#root);
        if (isDirectory) rmdirSync(`${directory.at}/${name}`);
        else unlinkSync(`${directory.at}/${name}`);
      } catch (error) {
        // somebody else removed it
        if (systemCode(error) !== "ENOENT") throw error;
      } finally {
        entry.close();
      }
    }
  }
}

export function moveEntry({ roots, descent }: Workspace, from: FilePath, to: FilePath): void {
  const source = new Walk(roots, descent, from).toEnd({ keepLink: !from.directory });
  try {
    existing(source, from);
    refuseRoot(source, from, "moved");
    const aim = new Walk(roots, descent, to).toEnd({ makeDirectories: true, keepLink: true });
    try {
      if (aim.entry !== undefined) {
        const message = `${quoted(to.text)} exists already; remove it first, or choose another name`;
        throw fileError("conflict", message, to.text);
      }
      if (aim.dangling) throw roots.outside(to.text, danglingLink);
      descent.confirm(source.directory.at, source.root);
      descent.confirm(aim.directory.at, aim.root);
      renameSync(`${source.directory.at}/${source.name}`, `${aim.directory.at}/${aim.name}`);
    } finally {
      aim.close();
    }
  } finally {
    source.close();
  }
}

function refuseRoot(place: Place, target: FilePath, what: string): void {
  if (place.name !== "") return;
  const message = `${quoted(target.text)} is a root of the workspace and cannot be ${what}`;
  throw fileError("invalid_argument", message, target.text);
}
