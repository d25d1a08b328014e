// The interface to directory entries, by descriptors on Linux (descriptor-access.ts) or by paths (portable-access.ts).

import type { BigIntStats } from "node:fs";

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
