// Writes files in the format of the old one, unless somebody else has changed it.

import { accessSync, closeSync, constants } from "node:fs";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { WriteTextOptions } from "../../model/services.ts";
import {
  checkedEncoding,
  contentVersion,
  encodedBytes,
  encodeText,
  formatIn,
  formatOf,
  readContent,
  readContentSync,
  type TextFormat,
} from "./file-content.ts";
import { type FileErrorData, fileError, quotedPath, throwIfAborted } from "./file-error.ts";
import type { FilePath } from "./file-path.ts";
import { replaceFile } from "./replace-file.ts";
import { danglingLink, type ResolvedPath, Walk } from "./walk.ts";
import { refuseDirectoryName, requireRegularFile, type Workspace } from "./workspace.ts";

/** The options of a write. */
export interface LocalWriteOptions extends WriteTextOptions {
  /**
   * The expected state, else "conflict": a version from `read` or `write`, "absent" for no file, "any" for no check.
   * Default: as `expectUnchanged` says.
   */
  readonly expected?: string | undefined;
}

/** The result of a write. */
export interface WrittenFile {
  /** The new version of the file. */
  readonly version: string;
  /** Whether the file is new. */
  readonly isNew: boolean;
}

export async function writeTextFile(
  workspace: Workspace,
  target: FilePath,
  content: string,
  options: LocalWriteOptions,
): Promise<WrittenFile> {
  const encoding = checkedEncoding(options.encoding, target.text);
  if (encoding !== "utf-8") {
    const bytes = encodedBytes(content, encoding, target.text);
    return writeFile(workspace, target, options, async () => bytes);
  }
  if (typeof content !== "string" || !content.isWellFormed()) {
    const got = typeof content === "string" ? "half a surrogate pair" : typeof content;
    const message = `${quotedPath(target.text)}: content must be Unicode text, got ${got}`;
    throw fileError("invalid_argument", message, target.text);
  }
  return writeFile(workspace, target, options, async (resolved) =>
    encodeText(content, await oldFormat(workspace, resolved, target, options)),
  );
}

/** Writes bytes unchanged. */
export async function writeBytesFile(
  workspace: Workspace,
  target: FilePath,
  bytes: Uint8Array,
  options: LocalWriteOptions,
): Promise<WrittenFile> {
  // the caller may change its own
  const copy = Buffer.from(bytes);
  return writeFile(workspace, target, options, async () => copy);
}

async function writeFile(
  workspace: Workspace,
  target: FilePath,
  given: LocalWriteOptions,
  content: (resolved: ResolvedPath) => Promise<Buffer>,
): Promise<WrittenFile> {
  refuseDirectoryName(target);
  const options: LocalWriteOptions = given.overwrite === false ? { ...given, expected: "absent" } : given;
  const resolved = resolveToWrite(workspace, target, options);
  try {
    if (resolved.dangling) throw workspace.roots.outside(target.text, danglingLink);
    if (resolved.entry !== undefined) {
      requireRegularFile(resolved.entry, target);
      if (options.expected === "absent") throw exists(target, given);
      // a rename needs no permission for the file itself, but respect a read-only file
      accessSync(resolved.entry.at, constants.W_OK);
    }
    const bytes = await content(resolved);
    const version = contentVersion(bytes);
    await put(workspace, resolved, { bytes, version }, target, options);
    return { version, isNew: resolved.entry === undefined };
  } finally {
    resolved.close();
  }
}

async function put(
  workspace: Workspace,
  resolved: ResolvedPath,
  { bytes, version }: { readonly bytes: Buffer; readonly version: string },
  target: FilePath,
  { expected, signal }: LocalWriteOptions,
): Promise<void> {
  const { directory, root, name, entry } = resolved;
  const temporary = `${directory.at}/.parley-${crypto.randomUUID()}.tmp`;
  const confirm = (at: string) => workspace.access.confirm(at, root);
  confirm(directory.at);
  try {
    await replaceFile(`${directory.at}/${name}`, bytes, {
      temporary,
      ...(entry === undefined ? { mode: 0o666 } : { like: entry.stat }),
      onlyNew: expected === "absent",
      signal,
      opened: () => confirm(temporary),
      check() {
        confirm(temporary);
        checkUnchanged(workspace, resolved, target, expected);
      },
      done: () => workspace.seen?.set(resolved.canonical, version),
    });
  } catch (error) {
    throwIfAborted(signal, target.text);
    throw error;
  }
}

function resolveToWrite(
  { roots, access }: Workspace,
  target: FilePath,
  { expected, followLinks, createDirectories = true }: LocalWriteOptions,
): ResolvedPath {
  const mayBeNew = expected === undefined || expected === "any" || expected === "absent";
  const makeDirectories = mayBeNew && createDirectories;
  try {
    return new Walk(roots, access, target).toEnd({ makeDirectories, followLinks });
  } catch (error) {
    // every RequestError here comes from `fileError`
    const reason = error instanceof RequestError ? (error.data as FileErrorData).reason : undefined;
    if (!mayBeNew && reason === "not_found") throw conflict(target, "has been removed");
    throw error;
  }
}

/** Undefined for a new file, and for one over the read limit. */
async function oldFormat(
  { access, maxReadBytes, seen }: Workspace,
  { entry, root, canonical }: ResolvedPath,
  target: FilePath,
  { expected = seen?.get(canonical) ?? "any", signal }: LocalWriteOptions,
): Promise<TextFormat | undefined> {
  if (entry === undefined || entry.stat.size > maxReadBytes) return undefined;
  // a file of another version is not replaced
  const known = formatIn(expected);
  if (known !== undefined) return known;
  const fd = access.openFile(entry, root);
  try {
    const options = { maxBytes: maxReadBytes, path: target.text, signal };
    return formatOf(await readContent(fd, entry.stat.size, options));
  } finally {
    closeSync(fd);
  }
}

/**
 * Synchronous, like the rename after it, so that only one of several writes against a version succeeds. Reads the
 * remembered version only now, so that writes of one caller do not conflict.
 */
function checkUnchanged(
  workspace: Workspace,
  resolved: ResolvedPath,
  target: FilePath,
  asked: string | undefined,
): void {
  const expected = asked ?? workspace.seen?.get(resolved.canonical);
  if (expected === undefined || expected === "any" || expected === "absent") return;
  const version = versionNow(workspace, resolved, target);
  if (version === expected) return;
  if (version !== "absent") throw conflict(target, "has changed");
  // without an explicit version a removed file may be created again
  if (asked !== undefined) throw conflict(target, "has been removed");
}

function versionNow(
  { access, maxReadBytes }: Workspace,
  resolved: ResolvedPath,
  target: FilePath,
): string | undefined {
  const file = access.lookup(resolved.directory, resolved.name);
  if (file === undefined) return "absent";
  try {
    if (!file.stat.isFile() || file.stat.size > maxReadBytes) return undefined;
    const fd = access.openFile(file, resolved.root);
    try {
      const options = { maxBytes: maxReadBytes, path: target.text };
      return contentVersion(readContentSync(fd, file.stat.size, options));
    } finally {
      closeSync(fd);
    }
  } finally {
    file.close();
  }
}

function exists(target: FilePath, { overwrite }: LocalWriteOptions): Error {
  if (overwrite !== false) return conflict(target, "exists already");
  const message = `${quotedPath(target.text)} exists, and the write was not to replace it; write to another path`;
  return fileError("conflict", message, target.text);
}

function conflict(target: FilePath, what: string): Error {
  const message = `${quotedPath(target.text)} ${what} since it was read; read it again, then write`;
  return fileError("conflict", message, target.text);
}
