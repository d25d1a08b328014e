// A file replaced as a whole or not at all: written beside the old one, forced to disk, then renamed over
// it, all inside one open directory. Readers see the old or the new text, never a part. Other hard links
// keep the old content. What is at the name is never followed.

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
  /** The file that is replaced: mode and owner are kept. Undefined: a new file, as the umask says. */
  readonly old: BigIntStats | undefined;
  /** Fails where there is a file by then. */
  readonly onlyNew: boolean;
  readonly signal: AbortSignal | undefined;
  /** Called last, when the new file is on disk: may throw to refuse. Nothing runs between it and the renaming. */
  readonly check: () => void;
  /** Called as soon as the new file is in place, in the same turn. */
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
  // Nobody else may look into it before it has the old file's mode.
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
      // Only root gives files away: to others the file that they may replace becomes their own.
    }
  }
  // Without setuid and setgid: they were granted to the content that is going away.
  fchmodSync(fd, Number(old.mode) & 0o777);
}

function putInPlace(temporary: string, resolved: ResolvedPath, options: ReplaceOptions): void {
  const target = `${resolved.directory.at}/${resolved.name}`;
  if (options.onlyNew) {
    try {
      // Unlike renaming, linking refuses to replace what somebody has created meanwhile.
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

/** What file systems say that have no hard links. */
const withoutLinks: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // somebody removed it, or its directory: there is nothing left to clean up
  }
}

/** The name is on disk too. */
async function syncDirectory(at: string): Promise<void> {
  if (process.platform === "win32") return;
  let fd: number;
  try {
    fd = openSync(`${at}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    // a directory that we may write but not read; the file is in place all the same
    return;
  }
  try {
    await fsyncAsync(fd);
  } catch {
    // some file systems refuse to sync a directory; the file is in place all the same
  } finally {
    closeSync(fd);
  }
}
