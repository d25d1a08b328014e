// Accesses directory entries by path, where there is no /proc.

import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import { type DirectoryAccess, isSameInode, type OpenedRoot } from "./directory-access.ts";
import { fileError } from "./file-error.ts";

// macOS: O_NOFOLLOW_ANY, which fails for a link anywhere on the path; Node does not define it
const noFollowAny = process.platform === "darwin" ? 0x2000_0000 : 0;
// Windows has none of these
const readFlags =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | noFollowAny;

/** Retries, because editors replace files by renaming. */
const attempts = 5;

/**
 * Reads never return content from outside the root. Writes are weaker than with descriptors: a process that swaps a
 * directory for a link at the right moment can redirect one. The checks make that moment short, not impossible.
 */
export const portableAccess: DirectoryAccess = {
  openRoot(path) {
    const real = realpathSync.native(path);
    const stat = statSync(real, { bigint: true });
    // the same error as the system's
    if (!stat.isDirectory()) {
      throw Object.assign(new Error("not a directory"), { code: "ENOTDIR", syscall: "open" });
    }
    return { handle: { at: real === sep ? "" : real, stat, close }, path: real };
  },

  lookup(directory, name) {
    const at = `${directory.at}/${name}`;
    const stat = lstatSync(at, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? undefined : { at, stat, close };
  },

  openFile(file, root) {
    for (let attempt = 1; ; attempt += 1) {
      const fd = openSync(file.at, readFlags);
      try {
        const opened = fstatSync(fd, { bigint: true });
        // repeated, because the path may be swapped during one check, but hardly during three
        const isHere = () => isSameInode(opened, statSync(insidePath(file.at, root), { bigint: true }));
        if (opened.isFile() && isHere() && isHere() && isHere()) return fd;
        if (attempt === attempts) throw moved();
      } catch (error) {
        closeSync(fd);
        throw error;
      }
      closeSync(fd);
    }
  },

  confirm(at, root) {
    insidePath(at, root);
  },
};

function close(): void {
  // there is no descriptor
}

/** Resolves a path and throws when it leads outside the root. */
function insidePath(at: string, root: OpenedRoot): string {
  const real = realpathSync.native(at === "" ? sep : at);
  const inside = root.path.endsWith(sep) ? root.path : root.path + sep;
  if (real === root.path || real.startsWith(inside)) return real;
  throw moved();
}

function moved(): Error {
  return fileError("outside_workspace", "the path changed while it was used; try again");
}
