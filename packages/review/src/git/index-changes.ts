// The files that differ between two states of an index, with their contents.

import type { PathChange } from "../files/source.ts";
import { absent, type BytePath, fileVersion, isTextSize, shownPath, type Version } from "../files/version.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { zeroSeparated } from "./run-git.ts";

/** What an index has at a path. */
export interface Blob {
  readonly mode: string;
  readonly id: string;
}

/** Nothing. */
export const noBlob: Blob = { mode: "000000", id: "" };

/** Above this many paths the whole index is listed. */
const mostNamed = 200;

/** The entries of our index. Paths that it does not have are missing. */
export async function entriesOf(
  dir: PrivateGitDir,
  paths: readonly BytePath[],
): Promise<Map<BytePath, Blob>> {
  const wanted = new Set(paths);
  const entries = new Map<BytePath, Blob>();
  if (wanted.size === 0) return entries;
  // arguments are UTF-8, and a system bounds their number
  const named = wanted.size > mostNamed ? [] : paths.map(shownPath);
  const isNamed =
    named.length > 0 && named.every((path, at) => Buffer.from(path).toString("latin1") === paths[at]);
  const output = await dir.run(["ls-files", "-s", "-z", ...(isNamed ? ["--", ...named] : [])]);
  // `mode id stage TAB path`
  for (const line of zeroSeparated(output)) {
    const tab = line.indexOf("\t");
    const path = line.slice(tab + 1);
    const [mode = "", id = ""] = line.slice(0, tab).split(" ");
    if (wanted.has(path)) entries.set(path, { mode, id });
  }
  return entries;
}

/** What became of these entries. */
export async function indexChanges(
  dir: PrivateGitDir,
  before: ReadonlyMap<BytePath, Blob>,
): Promise<PathChange[]> {
  const now = await entriesOf(dir, [...before.keys()]);
  const changed = Array.from(before, ([path, old]) => ({ path, before: old, after: now.get(path) ?? noBlob }))
    .filter((each) => each.before.mode !== each.after.mode || each.before.id !== each.after.id)
    // as git lists them
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  const contents = await readBlobs(
    dir,
    changed.flatMap((change) => [change.before, change.after]),
  );
  return changed.map((change) => ({
    path: change.path,
    before: blobVersion(dir, change.before, contents),
    after: blobVersion(dir, change.after, contents),
  }));
}

function blobVersion(dir: PrivateGitDir, { mode, id }: Blob, contents: Contents): Version {
  if (mode === noBlob.mode) return absent;
  const content = contents.get(id);
  if (content === undefined)
    return { type: "other", what: "a file whose content is gone from the repository" };
  const isExecutable = mode === "100755";
  if (typeof content === "number") {
    return { type: "bytes", isExecutable, size: content, id, load: () => dir.run(["cat-file", "blob", id]) };
  }
  if (mode === "120000") return { type: "link", target: content.toString("latin1") };
  return fileVersion(content, isExecutable, dir.hash);
}

/** The content of small objects, and the size of large ones. */
type Contents = ReadonlyMap<string, Buffer | number>;

async function readBlobs(dir: PrivateGitDir, blobs: readonly Blob[]): Promise<Contents> {
  const contents = new Map<string, Buffer | number>();
  const ids = [
    ...new Set(blobs.filter(({ mode }) => mode !== noBlob.mode && mode !== "160000").map(({ id }) => id)),
  ];
  if (ids.length === 0) return contents;
  const asked = (list: readonly string[]) => ({ input: list.map((id) => `${id}\n`).join("") });
  const facts = await dir.run(["cat-file", "--batch-check", "--buffer"], asked(ids));
  const small: string[] = [];
  for (const line of facts.toString("latin1").split("\n")) {
    const [id = "", type, size] = line.split(" ");
    if (type !== "blob") continue;
    if (isTextSize(Number(size))) small.push(id);
    else contents.set(id, Number(size));
  }
  if (small.length === 0) return contents;
  const output = await dir.run(["cat-file", "--batch", "--buffer"], asked(small));
  for (let at = 0; at < output.length; ) {
    const lineEnd = output.indexOf(10, at);
    const [id = "", type, size] = output.toString("latin1", at, lineEnd).split(" ");
    at = lineEnd + 1;
    if (type !== "blob") continue;
    const content = output.subarray(at, at + Number(size));
    // of its own, so that one small file does not keep all of them in memory
    contents.set(id, Buffer.from(content));
    at += Number(size) + 1;
  }
  return contents;
}
