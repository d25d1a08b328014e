// Replaces a file atomically: writes a temporary file beside it, syncs it and renames it.

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  write,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { checkOptions, type Keys } from "../../base/known-options.ts";
import { systemCode } from "./file-error.ts";

const fsyncAsync = promisify(fsync);
const writeAsync = promisify(write);

const chunkBytes = 1024 * 1024;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** How a file of the program itself is replaced. */
export interface ReplaceFileSyncOptions {
  /** The permission bits of the file, without those that the umask takes away. Default 0o600: only its owner can read it. */
  readonly mode?: number | undefined;
  /** Whether the content is on the disk before the old file goes, so that it survives a power cut. Default true. */
  readonly flush?: boolean | undefined;
  /** Fails with the code `EEXIST` if there is a file. It appears with its content: nobody finds it empty. Default false. */
  readonly onlyNew?: boolean | undefined;
}

/** How a file is replaced, also one of somebody else. */
export interface ReplaceFileOptions extends ReplaceFileSyncOptions {
  /** The owner and the permission bits that the file gets instead of `mode`: those of the file that is replaced. */
  readonly like?: {
    readonly uid: number | bigint;
    readonly gid: number | bigint;
    readonly mode: number | bigint;
  };
  /** The path of the temporary file, in the same folder. Default: a new name. */
  readonly temporary?: string | Buffer | undefined;
  /** Stops the write. The file is then left as it was. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the temporary file is there and still empty. What it throws leaves the file as it was. */
  readonly opened?: () => void;
  /** Called before the file is put in place, without a pause in between. What it throws leaves the file as it was. */
  readonly check?: () => void | Promise<void>;
  /** Called when the file is in place, without a pause in between. */
  readonly done?: () => void;
}

/**
 * Replaces a file, or creates it: readers find the old content or the new one, and so does the next start after a crash.
 *
 * @param path - The path of the file, in a folder that exists. A symbolic link is replaced, not followed.
 * @param content - A text, bytes, or the target of a symbolic link.
 *
 * @example
 * import { replaceFile } from "@parley/acp/node";
 *
 * await replaceFile("/var/lib/my-app/state.json", JSON.stringify({ runs: 1 }));
 */
export async function replaceFile(
  path: string | Buffer,
  content: string | Uint8Array | { readonly linkTo: string | Buffer },
  options: ReplaceFileOptions = {},
): Promise<void> {
  checkOptions("replaceFile", options, replaceKeys);
  const { temporary = besides(path), flush = true, signal, check } = options;
  const isLink = typeof content === "object" && "linkTo" in content;
  // private until it has the bits of another file
  const mode = options.like === undefined ? (options.mode ?? ownerOnly) : ownerOnly;
  const fd = isLink ? symlinkSync(content.linkTo, temporary) : openSync(temporary, createFlags, mode);
  try {
    if (!isLink && fd !== undefined) await fill(fd, content, options);
    signal?.throwIfAborted();
    // awaited only if it is a promise: nothing happens between a check and the rename
    const checked = check?.();
    if (checked !== undefined) await checked;
    if (options.onlyNew === true) putNew(temporary, path);
    else renameSync(temporary, path);
    options.done?.();
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
  if (flush) await syncFolder(path);
}

/**
 * Replaces a file of the program itself, such as its settings, or creates it: readers find the old content or the new
 * one, and so does the next start after a crash. Missing folders are created, for their owner alone.
 *
 * @param path - The path of the file. A symbolic link is replaced, not followed.
 *
 * @example
 * import { replaceFileSync } from "@parley/acp/node";
 *
 * replaceFileSync("/var/lib/my-app/login.json", JSON.stringify({ token: "abc" }));
 */
export function replaceFileSync(
  path: string,
  content: string | Uint8Array,
  options: ReplaceFileSyncOptions = {},
): void {
  checkOptions("replaceFileSync", options, syncKeys);
  const { mode = ownerOnly, flush = true, onlyNew = false } = options;
  const temporary = besides(path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(temporary, content, { mode, flag: "wx", flush });
    if (onlyNew) putNew(temporary, path);
    else renameSync(temporary, path);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
}

const ownerOnly = 0o600;

function besides(path: string | Buffer): string | Buffer {
  const ending = `.${crypto.randomUUID()}.new`;
  return typeof path === "string" ? path + ending : Buffer.concat([path, Buffer.from(ending)]);
}

async function fill(
  fd: number,
  content: string | Uint8Array,
  { opened, like, flush = true, signal }: ReplaceFileOptions,
): Promise<void> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  try {
    opened?.();
    for (let offset = 0; offset < bytes.length; ) {
      signal?.throwIfAborted();
      const length = Math.min(bytes.length - offset, chunkBytes);
      offset += (await writeAsync(fd, bytes, offset, length, offset)).bytesWritten;
    }
    if (like !== undefined) keepOwnerAndMode(fd, like);
    if (flush) await fsyncAsync(fd);
  } finally {
    closeSync(fd);
  }
}

function keepOwnerAndMode(fd: number, old: NonNullable<ReplaceFileOptions["like"]>): void {
  const [now, uid, gid] = [fstatSync(fd), Number(old.uid), Number(old.gid)];
  if (now.uid !== uid || now.gid !== gid) {
    try {
      fchownSync(fd, uid, gid);
    } catch {
      // only root can change the owner
    }
  }
  // without setuid and setgid, which were meant for the old content
  fchmodSync(fd, Number(old.mode) & 0o777);
}

/** Unlike a rename, a link fails when somebody has created the file meanwhile. */
function putNew(temporary: string | Buffer, path: string | Buffer): void {
  try {
    linkSync(temporary, path);
    removeQuietly(temporary);
  } catch (error) {
    if (!withoutLinks.has(systemCode(error) ?? "")) throw error;
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
      throw Object.assign(new Error("the file exists"), { code: "EEXIST" });
    renameSync(temporary, path);
  }
}

/** The errors of file systems without hard links. */
const withoutLinks: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

function removeQuietly(path: string | Buffer): void {
  try {
    unlinkSync(path);
  } catch {
    // already removed
  }
}

/** Syncs the new name to disk. */
async function syncFolder(path: string | Buffer): Promise<void> {
  if (process.platform === "win32") return;
  const folder = typeof path === "string" ? dirname(path) : path.subarray(0, path.lastIndexOf("/") + 1);
  let fd: number;
  try {
    fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
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

const syncKeys: Keys<ReplaceFileSyncOptions> = { mode: true, flush: true, onlyNew: true };

const replaceKeys: Keys<ReplaceFileOptions> = {
  ...syncKeys,
  like: true,
  temporary: true,
  signal: true,
  opened: true,
  check: true,
  done: true,
};
