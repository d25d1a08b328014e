// The interface to directory entries, by descriptors on Linux (descriptor-access.ts) or by paths (portable-access.ts).

import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { sep } from "node:path";
import { fileError, systemCode } from "./file-error.ts";

/** An entry of the file system: with descriptors exactly this inode, otherwise the state at the time of the lookup. */
export interface Handle {
  /** A path to it. Entries of a directory are `${at}/${name}`. */
  readonly at: string;
  /** The stat of the entry itself; a link is not followed. */
  readonly stat: BigIntStats;
  close(): void;
}

export interface OpenedRoot {
  readonly handle: Handle;
  /** Without links. */
  readonly path: string;
}

export interface DirectoryAccess {
  /** Opens a root and follows links to it. Throws system errors. */
  openRoot(path: string): OpenedRoot;
  /** The entry `name` of a directory, or undefined. Opens no device. */
  lookup(directory: Handle, name: string): Handle | undefined;
  /** Opens a regular file for reading and returns its descriptor. Throws when it is not below the root. */
  openFile(file: Handle, root: OpenedRoot): number;
  /** Throws when the path of a handle no longer leads below the root. */
  confirm(at: string, root: OpenedRoot): void;
}

export function isSameInode(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

// O_PATH, which Node does not define; the same on every architecture that Node supports. It opens nothing, so a FIFO
// does not block, a device does not act, and a directory needs no read permission.
const pathOnly = 0o10000000;

// /proc/self/fd/<fd>/<name> with O_NOFOLLOW works like openat(2), so nobody can put a link between check and use
const self = "/proc/self/fd";

export const descriptorAccess: DirectoryAccess = {
  openRoot(path) {
    const handle = handleOf(openSync(path, pathOnly | constants.O_DIRECTORY));
    try {
      return { handle, path: readlinkSync(handle.at) };
    } catch (error) {
      handle.close();
      throw error;
    }
  },

  lookup(directory, name) {
    try {
      return handleOf(openSync(`${directory.at}/${name}`, pathOnly | constants.O_NOFOLLOW));
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    }
  },

  // the type has been checked, so this does not block; O_NONBLOCK is for unusual file systems
  openFile(file) {
    return openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  },

  confirm() {
    // a descriptor always means the same inode
  },
};

function handleOf(fd: number): Handle {
  let open = true;
  const close = () => {
    // closing twice could close somebody else's descriptor
    if (open) closeSync(fd);
    open = false;
  };
  try {
    return { at: `${self}/${fd}`, stat: fstatSync(fd, { bigint: true }), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** False outside Linux, and in a container or chroot without /proc. */
export function canUseDescriptors(): boolean {
  if (process.platform !== "linux") return false;
  try {
    const fd = openSync("/", pathOnly | constants.O_DIRECTORY);
    try {
      return statSync(`${self}/${fd}/.`, { bigint: true }).ino === fstatSync(fd, { bigint: true }).ino;
    } finally {
      closeSync(fd);
    }
  } catch {
    // no usable /proc
    return false;
  }
}

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
