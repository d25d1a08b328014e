// Replaces a file by another version of it: at once or not at all, never through a link, and only if nobody changed it.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, rmdir, unlink } from "node:fs/promises";
import { replaceFile } from "@parley/acp/node";
import {
  type BytePath,
  contentOf,
  fsPath,
  type Hash,
  isSameVersion,
  readVersion,
  shownPath,
  type Version,
} from "./version.ts";

/** What to write where. */
export interface Replacement {
  readonly root: string;
  readonly path: BytePath;
  readonly hash: Hash;
  /** What must be there. Something else is left alone. */
  readonly expected: Version;
  readonly wanted: Version;
  /** Folders that are empty afterwards are removed if they are younger than this time. */
  readonly foldersSince: number;
  /** Told of the temporary file before it is made and after it is gone, so that a crash leaves nothing for good. */
  readonly temporary: { begin(path: Buffer): Promise<void>; end(): Promise<void> };
}

/** The times of files come from a clock that is some milliseconds late. */
const clockStep = 20;

/** A file that is left as it is. The message says why. */
export class NotReplaced extends Error {}

export async function putVersion(replacement: Replacement): Promise<void> {
  const { root, path, wanted } = replacement;
  const parents = parentsOf(path);
  await checkParents(root, parents, wanted.type !== "absent");
  if (wanted.type === "absent") {
    await checkUnchanged(replacement);
    await unlink(fsPath(root, path));
    await removeEmptyParents(replacement, parents);
    return;
  }
  if (await onlyModeDiffers(replacement)) return;
  const name = `.parley-${randomBytes(6).toString("hex")}.tmp`;
  const temporary = fsPath(root, [...parents.slice(-1), name].join("/"));
  await replacement.temporary.begin(temporary);
  try {
    const { content, ...options } = await wantedFile(replacement);
    await replaceFile(fsPath(root, path), content, {
      ...options,
      temporary,
      onlyNew: replacement.expected.type === "absent",
      async check() {
        await checkParents(root, parents, false);
        await checkUnchanged(replacement);
      },
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
      throw new NotReplaced(`${shownPath(path)} was created at this moment; try again`);
    });
  } finally {
    await replacement.temporary.end();
  }
}

/** `a/b/c` gives `a` and `a/b`. */
function parentsOf(path: BytePath): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

async function checkParents(root: string, parents: readonly string[], create: boolean): Promise<void> {
  for (const parent of parents) {
    const folder = fsPath(root, parent);
    if (create) await mkdir(folder).catch(() => undefined); // what is there is looked at next
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true) {
      throw new NotReplaced(`${shownPath(parent)} is not a folder any more`);
    }
  }
  const last = parents.at(-1);
  if (last === undefined) return;
  const real = await realpath(fsPath(root, last), { encoding: "buffer" });
  if (!real.equals(fsPath(await realpath(root), last))) {
    throw new NotReplaced(`${shownPath(last)} leads out of ${root}`);
  }
}

async function checkUnchanged({ root, path, expected, hash }: Replacement): Promise<void> {
  if (isSameVersion(await readVersion(root, path, hash), expected)) return;
  throw new NotReplaced("it was changed at this moment; try again");
}

/** Changes the permission alone, where the content is the same. */
async function onlyModeDiffers(replacement: Replacement): Promise<boolean> {
  const { root, path, expected, wanted } = replacement;
  if ((expected.type !== "text" && expected.type !== "bytes") || expected.type !== wanted.type) return false;
  if (!isSameVersion({ ...expected, isExecutable: wanted.isExecutable }, wanted)) return false;
  await checkUnchanged(replacement);
  const handle = await open(
    fsPath(root, path),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    await handle.chmod(executableMode((await handle.stat()).mode, wanted.isExecutable));
  } finally {
    await handle.close();
  }
  return true;
}

/** Everybody who may read it may run it, or nobody. */
function executableMode(mode: number, isExecutable: boolean): number {
  const bits = mode & 0o7777;
  return isExecutable ? bits | ((bits & 0o444) >> 2) : bits & ~0o111;
}

/** What to write, and the permission and the owner that it gets. */
async function wantedFile({ root, path, wanted }: Replacement) {
  if (wanted.type === "link") return { content: { linkTo: Buffer.from(wanted.target, "latin1") } };
  const content = await contentOf(wanted);
  if (content === undefined || (wanted.type !== "text" && wanted.type !== "bytes")) {
    throw new NotReplaced("its earlier content was not kept");
  }
  const now = await lstat(fsPath(root, path)).catch(() => undefined);
  if (now?.isFile() !== true) return { content, mode: wanted.isExecutable ? 0o777 : 0o666 };
  const { uid, gid } = now;
  return { content, like: { uid, gid, mode: executableMode(now.mode, wanted.isExecutable) } };
}

async function removeEmptyParents(
  { root, foldersSince }: Replacement,
  parents: readonly string[],
): Promise<void> {
  for (const parent of parents.toReversed()) {
    const folder = fsPath(root, parent);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true || found.birthtimeMs < foldersSince - clockStep) return;
    const isRemoved = await rmdir(folder).then(
      () => true,
      () => false, // it is not empty
    );
    if (!isRemoved) return;
  }
}
