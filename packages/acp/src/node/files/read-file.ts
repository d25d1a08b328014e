// Reads files and their metadata.

import { closeSync } from "node:fs";
import type { ReadTextOptions } from "../../model/services.ts";
import { isByteEncoding } from "../../model/text-encodings.ts";
import type { Handle } from "./directory-access.ts";
import {
  checkedEncoding,
  checkLineRange,
  contentVersion,
  decodeText,
  readContent,
  sliceLines,
} from "./file-content.ts";
import { fileError, quotedPath } from "./file-error.ts";
import type { FilePath } from "./file-path.ts";
import { type ResolvedPath, Walk } from "./walk.ts";
import { refuseDirectoryName, requireRegularFile, type Workspace } from "./workspace.ts";

/** A text that was read from a file. */
export interface TextFile {
  /** The requested lines. */
  readonly text: string;
  /** The version of the whole file, for `expected` of a write. */
  readonly version: string;
  /** The number of hard links. Writing replaces only this name. */
  readonly links: number;
}

/** The facts about a file or directory. */
export interface FileFacts {
  /** The kind of the file, after links were followed. */
  readonly kind: "file" | "directory" | "other";
  /** The size in bytes. */
  readonly size: number;
  /** When it was modified last, in milliseconds since 1970. */
  readonly modifiedMs: number;
  /** The number of hard links. */
  readonly links: number;
}

export async function readTextFile(
  workspace: Workspace,
  target: FilePath,
  options: ReadTextOptions,
): Promise<TextFile> {
  checkLineRange(options, target.text);
  const encoding = checkedEncoding(options.encoding, target.text);
  if (isByteEncoding(encoding) && (options.line !== undefined || options.limit !== undefined)) {
    const message = `${quotedPath(target.text)}: ${encoding} has no lines; read the whole file without line and limit`;
    throw fileError("invalid_argument", message, target.text);
  }
  const { bytes, links, canonical } = await readBytes(workspace, target, options);
  const text = sliceLines(decodeText(bytes, target.text, encoding), options);
  const version = contentVersion(bytes);
  workspace.seen?.set(canonical, version);
  return { text, version, links };
}

export async function readBytes(
  { roots, access, maxReadBytes }: Workspace,
  target: FilePath,
  { signal, followLinks }: Pick<ReadTextOptions, "signal" | "followLinks">,
): Promise<{ readonly bytes: Buffer; readonly links: number; readonly canonical: string }> {
  refuseDirectoryName(target);
  const resolved = new Walk(roots, access, target).toEnd({ followLinks });
  try {
    const file = existing(resolved, target);
    requireRegularFile(file, target);
    const fd = access.openFile(file, resolved.root);
    try {
      const options = { maxBytes: maxReadBytes, path: target.text, signal };
      const bytes = await readContent(fd, file.stat.size, options);
      return { bytes, links: Number(file.stat.nlink), canonical: resolved.canonical };
    } finally {
      closeSync(fd);
    }
  } finally {
    resolved.close();
  }
}

export function factsOf({ roots, access }: Workspace, target: FilePath): FileFacts {
  const resolved = new Walk(roots, access, target).toEnd();
  try {
    const { stat } = existing(resolved, target);
    const kind = stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "other";
    if (target.directory && kind !== "directory") {
      const message = `${quotedPath(target.text)} is not a directory; drop the slash at the end`;
      throw fileError("not_a_directory", message, target.text);
    }
    return {
      kind,
      size: Number(stat.size),
      modifiedMs: Number(stat.mtimeMs),
      links: Number(stat.nlink),
    };
  } finally {
    resolved.close();
  }
}

export function existing(resolved: ResolvedPath, target: FilePath): Handle {
  if (resolved.entry !== undefined) return resolved.entry;
  const what = resolved.dangling ? "the symbolic link leads to nothing" : "no such file or directory";
  throw fileError("not_found", `cannot find ${quotedPath(target.text)}: ENOENT, ${what}`, target.text);
}
