// Accesses directory entries by descriptors, on Linux.

import { closeSync, constants, fstatSync, openSync, readlinkSync, statSync } from "node:fs";
import type { DirectoryAccess, Handle } from "./directory-access.ts";
import { systemCode } from "./file-error.ts";

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
