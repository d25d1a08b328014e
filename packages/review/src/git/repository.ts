// Finds repositories and reads the few facts about them that a review needs, without running git in them.

import { realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { readPlainFile } from "./plain-file.ts";

const maxPackedBytes = 256 * 2 ** 20;

/** A working tree and the folders that belong to it. */
export interface Repository {
  readonly worktree: string;
  /** The folder with HEAD and the index. */
  readonly gitDir: string;
  /** The folder with the objects and the branches. Another one only for linked worktrees. */
  readonly commonDir: string;
}

/** The repository that a folder is in. */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await repositoryAt(at);
    if (found !== undefined || at === dirname(at)) return found;
  }
}

/** The repository whose working tree is this folder. */
export async function repositoryAt(worktree: string): Promise<Repository | undefined> {
  const path = join(worktree, ".git");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  const pointer = found.isFile() ? /^gitdir: (.+?)\s*$/s.exec(await smallFile(path))?.[1] : undefined;
  const named = found.isDirectory() ? path : pointer === undefined ? undefined : resolve(worktree, pointer);
  const gitDir = named === undefined ? undefined : await realpath(named).catch(() => undefined);
  if (gitDir === undefined || (await smallFile(join(gitDir, "HEAD"))) === "") return undefined;
  const common = (await smallFile(join(gitDir, "commondir"))).trim();
  const commonDir = common === "" ? gitDir : isAbsolute(common) ? common : resolve(gitDir, common);
  return { worktree, gitDir, commonDir };
}

/** A folder that is a repository without working tree. */
export async function isBareRepository(folder: string): Promise<boolean> {
  const [head, objects] = await Promise.all([
    smallFile(join(folder, "HEAD")),
    stat(join(folder, "objects")).catch(() => undefined),
  ]);
  return head !== "" && objects?.isDirectory() === true;
}

/** The branch that HEAD names. Undefined for a commit without a branch. */
export async function headBranch({ gitDir }: Repository): Promise<string | undefined> {
  return /^ref: refs\/heads\/(\S+)$/.exec((await smallFile(join(gitDir, "HEAD"))).trim())?.[1];
}

/** The commit that HEAD names. Undefined before the first commit, and where the branches are not in files (reftable). */
export async function headCommit({ gitDir, commonDir }: Repository): Promise<string | undefined> {
  let name = "HEAD";
  for (let depth = 0; depth < 5; depth += 1) {
    const own = await smallFile(join(gitDir, name));
    const text = (own === "" ? await smallFile(join(commonDir, name)) : own).trim();
    if (/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text)) return text;
    const target = /^ref: (refs\/\S+)$/.exec(text)?.[1];
    if (target === undefined && text === "") return packedRef(commonDir, name);
    if (target === undefined || target.split("/").includes("..")) return undefined;
    name = target;
  }
  return undefined;
}

async function packedRef(commonDir: string, name: string): Promise<string | undefined> {
  const packed = await readPlainFile(join(commonDir, "packed-refs"), { maxBytes: maxPackedBytes });
  const line = packed?.bytes
    .toString("latin1")
    .split("\n")
    .find((each) => each.endsWith(` ${name}`));
  return line?.split(" ")[0];
}

async function smallFile(path: string): Promise<string> {
  return (await readPlainFile(path))?.bytes.toString("utf8") ?? "";
}
