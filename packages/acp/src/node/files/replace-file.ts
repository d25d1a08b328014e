// Replaces a file atomically: writes a temporary file beside it, syncs it and renames it.

import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  linkSync,
  openSync,
  renameSync,
  unlinkSync,
  write,
} from "node:fs";
import { promisify } from "node:util";
import type { DirectoryAccess } from "./directory-access.ts";
import { systemCode, throwIfAborted } from "./file-error.ts";
import type { ResolvedPath } from "./walk.ts";

const fsyncAsync = promisify(fsync);
const writeAsync = promisify(write);

const chunkBytes = 1024 * 1024;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export interface ReplaceOptions {
  readonly access: DirectoryAccess;
  /** As the caller wrote it. */
  readonly path: string;
  /** The replaced file, whose mode and owner are kept; undefined for a new file. */
  readonly old: BigIntStats | undefined;
  /** Fails when the file exists. */
  readonly onlyNew: boolean;
  readonly signal: AbortSignal | undefined;
  /** Called synchronously before the rename; throws to refuse. */
  readonly check: () => void;
  /** Called synchronously after the rename. */
  readonly done: () => void;
}

export async function replaceFile(
  resolved: ResolvedPath,
  bytes: Uint8Array,
  options: ReplaceOptions,
): Promise<void> {
  const { access, old } = options;
  const temporary = `${resolved.directory.at}/.parley-${crypto.randomUUID()}.tmp`;
  access.confirm(resolved.directory.at, resolved.root);
  // private until it has the old file's mode
  const fd = openSync(temporary, createFlags, old === undefined ? 0o666 : 0o600);
  try {
    try {
      access.confirm(temporary, resolved.root);
      await writeAll(fd, bytes, options);
      if (old !== undefined) keepOwnerAndMode(fd, old);
      await fsyncAsync(fd);
    } finally {
      closeSync(fd);
    }
    throwIfAborted(options.signal, options.path);
    access.confirm(temporary, resolved.root);
    options.check();
    putInPlace(temporary, resolved, options);
    options.done();
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
  await syncDirectory(resolved.directory.at);
}

async function writeAll(fd: number, bytes: Uint8Array, options: ReplaceOptions): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    throwIfAborted(options.signal, options.path);
    const length = Math.min(bytes.length - offset, chunkBytes);
    offset += (await writeAsync(fd, bytes, offset, length, offset)).bytesWritten;
  }
}

function keepOwnerAndMode(fd: number, old: BigIntStats): void {
  const now = fstatSync(fd, { bigint: true });
  if (now.uid !== old.uid || now.gid !== old.gid) {
    try {
      fchownSync(fd, Number(old.uid), Number(old.gid));
    } catch {
      // only root can change the owner
    }
  }
  // without setuid and setgid, which were meant for the old content
  fchmodSync(fd, Number(old.mode) & 0o777);
}

function putInPlace(temporary: string, resolved: ResolvedPath, options: ReplaceOptions): void {
  const target = `${resolved.directory.at}/${resolved.name}`;
  if (options.onlyNew) {
    try {
      // unlike a rename, a link fails when somebody has created the file meanwhile
      linkSync(temporary, target);
      removeQuietly(temporary);
      return;
    } catch (error) {
      if (!withoutLinks.has(systemCode(error) ?? "")) throw error;
      const found = options.access.lookup(resolved.directory, resolved.name);
      found?.close();
      if (found !== undefined) throw error;
    }
  }
  renameSync(temporary, target);
}

/** The errors of file systems without hard links. */
const withoutLinks: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // already removed
  }
}

/** Syncs the new name to disk. */
async function syncDirectory(at: string): Promise<void> {
  if (process.platform === "win32") return;
  let fd: number;
  try {
    fd = openSync(`${at}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    // not readable; the file has been replaced anyway
    return;
  }
  try {
    await fsyncAsync(fd);
  } catch {
    // not supported by some file systems; the file has been replaced anyway
  } finally {
    closeSync(fd);
  }
}
