// How the entries of a directory are reached. There are two ways: by descriptors, where the system lets us
// name an entry relative to an open directory, and by names with checks, everywhere else.

import type { BigIntStats } from "node:fs";

/** One entry of the file system: with descriptors this very inode, otherwise what was there when we looked. */
export interface Handle {
  /** A path that leads to it. Entries of a directory are `${at}/${name}`. */
  readonly at: string;
  /** Of the entry itself: a link is not followed. */
  readonly stat: BigIntStats;
  close(): void;
}

export interface OpenedRoot {
  readonly handle: Handle;
  /** Without links. */
  readonly path: string;
}

export interface DirectoryAccess {
  /** Follows links: a root may be named by one. Throws what the system says. */
  openRoot(path: string): OpenedRoot;
  /** What is called `name` in this directory, whatever it is; undefined where there is nothing. Opens no device. */
  lookup(directory: Handle, name: string): Handle | undefined;
  /** Opens a regular file for reading and returns a descriptor. Throws where it is not below the root. */
  openFile(file: Handle, root: OpenedRoot): number;
  /** Throws where the path of a handle does not lead below the root any more. */
  confirm(at: string, root: OpenedRoot): void;
}

/** Identity is the inode, not the name. */
export function isSameInode(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}
