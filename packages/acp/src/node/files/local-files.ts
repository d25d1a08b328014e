// Reads and writes local files below a set of roots, and never outside; the caller checks permissions.

import { constants } from "node:buffer";
import { checkOptions, type Keys } from "../../base/known-options.ts";
import type { Files, ReadTextOptions } from "../../model/services.ts";
import {
  canUseDescriptors,
  type DirectoryAccess,
  descriptorAccess,
  portableAccess,
} from "./directory-access.ts";
import {
  entriesOf,
  type FolderEntry,
  moveEntry,
  type RemoveOptions,
  realPath,
  removeEntry,
} from "./directory-entries.ts";
import { type FileAction, fileError, fileErrorFrom, quotedPath, throwIfAborted } from "./file-error.ts";
import { type FilePath, parseFilePath } from "./file-path.ts";
import { type FileFacts, factsOf, readBytes, readTextFile, type TextFile } from "./read-file.ts";
import { Roots } from "./roots.ts";
import { SeenVersions, type Workspace } from "./workspace.ts";
import { type LocalWriteOptions, type WrittenFile, writeBytesFile, writeTextFile } from "./write-file.ts";

/** The directories and limits of local files. */
export interface LocalFilesOptions {
  /** Absolute paths of existing directories: the working directory and the additional ones of a session. */
  readonly roots: readonly string[];
  /** A larger file is refused with RequestError "limit_exceeded". Default 10 MiB. */
  readonly maxReadBytes?: number | undefined;
  /**
   * Refuses, with RequestError "conflict", to overwrite a file that has changed since it was last read or written through this object.
   * Files that were not read before are not checked. Default true.
   */
  readonly expectUnchanged?: boolean | undefined;
}

/** Local files. Methods reject with RequestError, whose `data` is FileErrorData, or with ConnectionError "aborted". */
export interface LocalFiles extends Files {
  /** Like `readText`, with the version to pass to `write`. */
  read(path: string, options?: ReadTextOptions): Promise<TextFile>;
  /** Reads a text: UTF-8 without its byte order mark, or another `encoding`. `line` and `limit` select lines. */
  readText(path: string, options?: ReadTextOptions): Promise<string>;
  /** Reads any regular file, such as an image. */
  readBytes(path: string, options?: Pick<ReadTextOptions, "signal" | "followLinks">): Promise<Uint8Array>;
  /** Follows links that stay inside the roots. */
  stat(path: string): Promise<FileFacts>;
  /**
   * Writes a text, creating the file and its directories if missing. Line ends and the byte order mark of an existing
   * file are kept.
   */
  writeText(path: string, content: string, options?: LocalWriteOptions): Promise<void>;
  /** Like `writeText`, with a result. */
  write(path: string, content: string, options?: LocalWriteOptions): Promise<WrittenFile>;
  /** Like `write`, for binary data or other encodings; written unchanged. */
  writeBytes(path: string, bytes: Uint8Array, options?: LocalWriteOptions): Promise<WrittenFile>;
  /** Resolves the links of a path, which need not exist yet. */
  realPath(path: string): Promise<string>;
  /** Lists a directory by name. Links are listed as links. */
  list(path: string): Promise<readonly FolderEntry[]>;
  /** Removes a file, a link itself or an empty directory; with `recursive` any directory. Never a root. */
  remove(path: string, options?: RemoveOptions): Promise<void>;
  /** Moves a file, a link itself or a directory to a path that does not exist; creates missing directories. */
  move(from: string, to: string): Promise<void>;
  /** Waits for running operations, then closes the roots. Afterwards everything rejects with RequestError "unavailable". */
  close(): Promise<void>;
  /** Closes them. */
  [Symbol.asyncDispose](): Promise<void>;
}

const knownOptions: Keys<LocalFilesOptions> = { roots: true, maxReadBytes: true, expectUnchanged: true };
const defaultMaxReadBytes = 10 * 1024 * 1024;

/**
 * Gives access to files below some directories, and to nothing outside of them. It does not ask for permission. Call
 * `close` when done.
 *
 * @throws {TypeError} When an option is unknown.
 * @throws {RequestError} When a root is not an absolute path or cannot be opened.
 *
 * @example
 * import { client } from "@parley/acp";
 * import { localFiles } from "@parley/acp/node";
 *
 * client({ name: "my-client", version: "1.0.0", files: (session) => localFiles({ roots: session.roots }) });
 */
export function localFiles(options: LocalFilesOptions): LocalFiles {
  checkOptions("localFiles", options, knownOptions);
  return localFilesWith(canUseDescriptors() ? descriptorAccess : portableAccess, options);
}

export function localFilesWith(access: DirectoryAccess, options: LocalFilesOptions): LocalFiles {
  const { maxReadBytes = defaultMaxReadBytes, expectUnchanged = true } = options;
  const most = constants.MAX_STRING_LENGTH;
  if (!Number.isInteger(maxReadBytes) || maxReadBytes < 1 || maxReadBytes > most) {
    const wanted = `maxReadBytes must be a whole number from 1 to ${most}`;
    throw fileError("invalid_argument", `${wanted}, got ${String(maxReadBytes)}`);
  }
  const seen = expectUnchanged ? new SeenVersions() : undefined;
  const workspace: Workspace = { access, roots: new Roots(options.roots, access), maxReadBytes, seen };
  let running = 0;
  let closed: PromiseWithResolvers<void> | undefined;

  // the descriptor of a root that is closed during an operation could come to mean another file
  function closeWhenIdle(): void {
    if (closed === undefined || running > 0) return;
    workspace.roots.close();
    closed.resolve();
  }

  function close(): Promise<void> {
    closed ??= Promise.withResolvers<void>();
    closeWhenIdle();
    return closed.promise;
  }

  async function at<Result>(
    action: FileAction,
    path: string,
    signal: AbortSignal | undefined,
    work: (target: FilePath) => Promise<Result> | Result,
  ): Promise<Result> {
    const target = parseFilePath(path);
    if (closed !== undefined) {
      throw fileError(
        "unavailable",
        `cannot ${action} ${quotedPath(path)}: these files have been closed`,
        path,
      );
    }
    throwIfAborted(signal, path);
    running += 1;
    try {
      return await work(target);
    } catch (error) {
      throw fileErrorFrom(error, action, path);
    } finally {
      running -= 1;
      closeWhenIdle();
    }
  }

  const files: LocalFiles = {
    canRead: true,
    canWrite: true,
    readText: async (path, how) => (await files.read(path, how)).text,
    read: (path, how = {}) => at("read", path, how.signal, (target) => readTextFile(workspace, target, how)),
    readBytes: (path, how = {}) =>
      at("read", path, how.signal, async (target) => (await readBytes(workspace, target, how)).bytes),
    stat: (path) => at("stat", path, undefined, (target) => factsOf(workspace, target)),
    realPath: (path) => at("stat", path, undefined, (target) => realPath(workspace, target)),
    list: (path) => at("list", path, undefined, (target) => entriesOf(workspace, target)),
    remove: (path, how = {}) =>
      at("remove", path, how.signal, (target) => removeEntry(workspace, target, how)),
    move: (from, to) =>
      at("move", from, undefined, (target) => moveEntry(workspace, target, parseFilePath(to))),
    writeText: async (path, content, how) => void (await files.write(path, content, how)),
    write: (path, content, how = {}) =>
      at("write", path, how.signal, (target) => writeTextFile(workspace, target, content, how)),
    writeBytes: (path, bytes, how = {}) =>
      at("write", path, how.signal, (target) => writeBytesFile(workspace, target, bytes, how)),
    close,
    [Symbol.asyncDispose]: close,
  };
  return files;
}
