// What is remembered of one file: its facts, and its content where it is kept.

import { lstat, readlink } from "node:fs/promises";
import { absent, type BytePath, fileVersion, fsPath, readVersion, type Version } from "../files/version.ts";
import { joinLines } from "../text/lines.ts";
import type { ContentStore } from "./content-store.ts";

export interface SeenFile {
  /** Differs when the file was written or replaced. */
  readonly stamp: string;
  readonly what: "file" | "link" | "other";
  readonly isExecutable: boolean;
  readonly size: number;
  /** The name of the kept content, or the target of a link. */
  readonly content: string | undefined;
}

/** Looks at a file. One that has the same facts as before is not read again. */
export async function lookAt(
  root: string,
  path: BytePath,
  {
    store,
    maxBytes,
    before,
  }: {
    readonly store: ContentStore;
    readonly maxBytes: number;
    readonly before: SeenFile | undefined;
  },
): Promise<SeenFile | undefined> {
  const file = fsPath(root, path);
  const found = await lstat(file, { bigint: true }).catch(() => undefined);
  if (found === undefined) return undefined;
  const stamp = [found.ino, found.size, found.mtimeNs, found.ctimeNs, found.mode].join(" ");
  if (before?.stamp === stamp) return before;
  const isExecutable = (found.mode & 0o100n) !== 0n;
  const seen = { stamp, isExecutable, size: Number(found.size) };
  if (found.isSymbolicLink()) {
    const target = await readlink(file, { encoding: "buffer" }).catch(() => Buffer.alloc(0));
    return { ...seen, what: "link", content: target.toString("latin1") };
  }
  if (!found.isFile()) return { ...seen, what: "other", content: undefined };
  const isSmall = found.size <= BigInt(maxBytes);
  const version = isSmall ? await readVersion(root, path, "sha1").catch(() => absent) : absent;
  const content = version.type === "text" ? await store.keep(joinLines(version.lines)) : undefined;
  return { ...seen, what: "file", content };
}

/** What a file was, with its content if that is kept. */
export async function seenVersion(seen: SeenFile | undefined, store: ContentStore): Promise<Version> {
  if (seen === undefined) return absent;
  const { what, isExecutable, size, stamp, content } = seen;
  if (what === "link") return { type: "link", target: content ?? "" };
  if (what === "other") return { type: "other", what: "no regular file" };
  if (content === undefined) return { type: "bytes", isExecutable, size, id: stamp, load: undefined };
  return fileVersion(await store.load(content), isExecutable, "sha1");
}
