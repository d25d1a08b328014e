// The access where there is no /proc: by names, each looked at without following links, and checked again
// after opening. Reads are never given content from outside, since the file that was checked is the one that
// was opened. Writes are weaker than with descriptors: a process that swaps a directory for a link at the
// right moment can make one land outside. The checks around it make that moment short, not impossible.

import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import { type DirectoryAccess, isSameInode, type OpenedRoot } from "./directory-access.ts";
import { fileError } from "./file-error.ts";

// macOS: fails where any name on the path is a link. Not among Node's constants.
const noFollowAny = process.platform === "darwin" ? 0x2000_0000 : 0;
// Windows has none of these.
const readFlags =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | noFollowAny;

/** A file that is replaced by renaming, as editors do, is another one for a moment. */
const attempts = 5;

export const portableAccess: DirectoryAccess = {
  openRoot(path) {
    const real = realpathSync.native(path);
    const stat = statSync(real, { bigint: true });
    // As the system says it of a path with a slash at its end.
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
        // Between the two looks of one check the path may be swapped; of three in a row it hardly is each time.
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

/** Where a path really leads. */
function insidePath(at: string, root: OpenedRoot): string {
  const real = realpathSync.native(at === "" ? sep : at);
  const inside = root.path.endsWith(sep) ? root.path : root.path + sep;
  if (real === root.path || real.startsWith(inside)) return real;
  throw moved();
}

function moved(): Error {
  return fileError("outside_workspace", "the path led elsewhere while it was used; try again");
}
