// The access on Linux. Node has no openat(2), but /proc/self/fd/<fd>/<name> is the same: the kernel starts
// at the open directory, whatever its path is called by now, and O_NOFOLLOW sees to the one name that is
// left. So there is no moment between a check and a use in which somebody could put a link.

import { closeSync, constants, fstatSync, openSync, readlinkSync, statSync } from "node:fs";
import type { DirectoryAccess, Handle } from "./directory-access.ts";
import { systemCode } from "./file-error.ts";

// Not among Node's constants; the same number on every architecture that Node runs on. A descriptor that
// only stands for the inode: nothing is opened, so a FIFO does not wait, a device does not act, and a
// directory needs no read permission.
const pathOnly = 0o10000000;

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

  // The entry in /proc leads to the inode itself. Its type has been checked, so nothing here can wait;
  // O_NONBLOCK is for file systems with odd files.
  openFile(file) {
    return openSync(file.at, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  },

  confirm() {
    // a descriptor cannot come to mean something else
  },
};

function handleOf(fd: number): Handle {
  let open = true;
  const close = () => {
    // Twice would close a descriptor that somebody else has been given since.
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
    // no /proc, or none that we may use
    return false;
  }
}
