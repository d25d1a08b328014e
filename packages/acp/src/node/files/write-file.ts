// Writing: walk to the directory, see how the old file is written, and replace it, unless it is another one
// than the caller has seen.

import { accessSync, closeSync, constants } from "node:fs";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { WriteTextOptions } from "../../model/files.ts";
import { readContent, readContentSync, versionOf } from "./file-content.ts";
import { type FileErrorData, fileError, quoted } from "./file-error.ts";
import type { FilePath } from "./file-path.ts";
import { replaceFile } from "./replace-file.ts";
import { encodeText, formatOf, type TextFormat } from "./text-format.ts";
import { danglingLink, type ResolvedPath, Walk } from "./walk.ts";
import { refuseDirectoryName, requireRegularFile, type Workspace } from "./workspace.ts";

export interface LocalWriteOptions extends WriteTextOptions {
  /**
   * What must be there, else -32066: a version that `read` or `write` gave, "absent" for nothing, "any" for
   * no check at all. Default: what `expectUnchanged` says.
   */
  readonly expected?: string;
  /** False: a path that leads through a symbolic link is refused with -32066. For what `locate` gave. Default true. */
  readonly followLinks?: boolean;
}

export interface WrittenFile {
  readonly version: string;
  /** There was no file before. */
  readonly created: boolean;
}

export async function writeTextFile(
  workspace: Workspace,
  target: FilePath,
  content: string,
  options: LocalWriteOptions,
): Promise<WrittenFile> {
  if (typeof content !== "string" || !content.isWellFormed()) {
    const got = typeof content === "string" ? "half a surrogate pair" : typeof content;
    const message = `${quoted(target.text)}: content must be Unicode text, got ${got}`;
    throw fileError("invalid_argument", message, target.text);
  }
  return writeFile(workspace, target, options, async (resolved) =>
    encodeText(content, await oldFormat(workspace, resolved, target, options.signal)),
  );
}

/** As they are: no mark and no line ends are given back. */
export async function writeBytesFile(
  workspace: Workspace,
  target: FilePath,
  bytes: Uint8Array,
  options: LocalWriteOptions,
): Promise<WrittenFile> {
  // a copy: the caller may go on using its own
  const copy = Buffer.from(bytes);
  return writeFile(workspace, target, options, async () => copy);
}

async function writeFile(
  workspace: Workspace,
  target: FilePath,
  options: LocalWriteOptions,
  content: (resolved: ResolvedPath) => Promise<Buffer>,
): Promise<WrittenFile> {
  refuseDirectoryName(target);
  const resolved = resolveToWrite(workspace, target, options);
  try {
    if (resolved.dangling) throw workspace.roots.outside(target.text, danglingLink);
    if (resolved.entry !== undefined) {
      requireRegularFile(resolved.entry, target);
      if (options.expected === "absent") throw conflict(target, "exists already");
      // Replacing it needs no right to the file itself, but who made it read-only meant it.
      accessSync(resolved.entry.at, constants.W_OK);
    }
    const bytes = await content(resolved);
    const version = versionOf(bytes);
    await replaceFile(resolved, bytes, {
      access: workspace.access,
      path: target.text,
      old: resolved.entry?.stat,
      onlyNew: options.expected === "absent",
      signal: options.signal,
      check: () => checkUnchanged(workspace, resolved, target, options.expected),
      done: () => workspace.seen?.set(resolved.canonical, version),
    });
    return { version, created: resolved.entry === undefined };
  } finally {
    resolved.close();
  }
}

function resolveToWrite(
  { roots, access }: Workspace,
  target: FilePath,
  { expected, followLinks }: LocalWriteOptions,
): ResolvedPath {
  const mayBeNew = expected === undefined || expected === "any" || expected === "absent";
  try {
    return new Walk(roots, access, target).toEnd({ makeDirectories: mayBeNew, followLinks });
  } catch (error) {
    // Everything here that is a RequestError was made by `fileError`.
    const reason = error instanceof RequestError ? (error.data as FileErrorData).reason : undefined;
    if (!mayBeNew && reason === "not_found") throw conflict(target, "has been removed");
    throw error;
  }
}

/** Undefined for a new file, and for one that is too large to have been read. */
async function oldFormat(
  { access, maxReadBytes }: Workspace,
  { entry, root }: ResolvedPath,
  target: FilePath,
  signal: AbortSignal | undefined,
): Promise<TextFormat | undefined> {
  if (entry === undefined || entry.stat.size > maxReadBytes) return undefined;
  const fd = access.openFile(entry, root);
  try {
    const options = { maxBytes: maxReadBytes, path: target.text, signal };
    return formatOf(await readContent(fd, entry.stat.size, options));
  } finally {
    closeSync(fd);
  }
}

/**
 * Synchronous, as is the renaming after it: of several writes against one version, one succeeds. What was
 * remembered is looked up only now, so that writes of the same caller do not get in each other's way.
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
  // Nobody's work is lost by creating a file again that was only remembered.
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
      return versionOf(readContentSync(fd, file.stat.size, options));
    } finally {
      closeSync(fd);
    }
  } finally {
    file.close();
  }
}

function conflict(target: FilePath, what: string): Error {
  const message = `${quoted(target.text)} ${what} since it was read; read it again, then write`;
  return fileError("conflict", message, target.text);
}
