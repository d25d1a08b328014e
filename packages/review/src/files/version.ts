// What is at a path, as a review knows it: nothing, text, other bytes, a link.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { joinLines, splitLines } from "../text/lines.ts";

/** A path below a root, each byte one character: names need not be UTF-8. */
export type BytePath = string;

/** The algorithm that names contents. Git's, so that a file on disk can be compared with a blob. */
export type Hash = "sha1" | "sha256";

/** The state of one path. */
export type Version =
  | { readonly type: "absent" }
  | { readonly type: "text"; readonly isExecutable: boolean; readonly lines: readonly string[] }
  | {
      readonly type: "bytes";
      readonly isExecutable: boolean;
      readonly size: number;
      /** The name of the content. */
      readonly id: string;
      /** Reads the content. Undefined when it is not kept. */
      readonly load: (() => Promise<Buffer>) | undefined;
    }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "other"; readonly what: string };

export const absent: Version = { type: "absent" };

/** Files above this size are not compared line by line. */
const maxTextBytes = 2 * 2 ** 20;

export function fsPath(root: string, path: BytePath): Buffer {
  return Buffer.concat([Buffer.from(root), Buffer.from("/"), Buffer.from(path, "latin1")]);
}

/** A path for people. Bytes that are not UTF-8 are replaced. */
export function shownPath(path: BytePath): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

export function contentId(content: Buffer, hash: Hash): string {
  return createHash(hash).update(`blob ${content.length}\0`).update(content).digest("hex");
}

export function isTextSize(size: number): boolean {
  return size <= maxTextBytes;
}

/** The version of a file with this content. */
export function fileVersion(content: Buffer, isExecutable: boolean, hash: Hash): Version {
  if (isTextSize(content.length) && !content.includes(0)) {
    return { type: "text", isExecutable, lines: splitLines(content) };
  }
  const id = contentId(content, hash);
  return { type: "bytes", isExecutable, size: content.length, id, load: async () => content };
}

/** Reads what is at a path now. The last part of the path is never followed. */
export async function readVersion(root: string, path: BytePath, hash: Hash): Promise<Version> {
  const file = fsPath(root, path);
  const found = await lstat(file).catch(missing);
  if (found === undefined) return absent;
  if (found.isSymbolicLink()) {
    return { type: "link", target: (await readlink(file, { encoding: "buffer" })).toString("latin1") };
  }
  if (!found.isFile()) return { type: "other", what: found.isDirectory() ? "a folder" : "no regular file" };
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { mode } = await handle.stat();
    return fileVersion(await handle.readFile(), (mode & 0o100) !== 0, hash);
  } finally {
    await handle.close();
  }
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
  throw error;
}

export async function contentOf(version: Version): Promise<Buffer | undefined> {
  if (version.type === "text") return joinLines(version.lines);
  return version.type === "bytes" ? version.load?.() : undefined;
}

export function isSameVersion(one: Version, other: Version): boolean {
  if (one.type === "text" && other.type === "text") {
    return (
      one.isExecutable === other.isExecutable &&
      one.lines.length === other.lines.length &&
      one.lines.every((line, index) => line === other.lines[index])
    );
  }
  if (one.type === "bytes" && other.type === "bytes") {
    return one.isExecutable === other.isExecutable && one.id === other.id;
  }
  if (one.type === "link" && other.type === "link") return one.target === other.target;
  return (
    one.type === other.type && (one.type !== "other" || (other.type === "other" && one.what === other.what))
  );
}
