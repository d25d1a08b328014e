// The files that differ between two trees, with their contents.

import type { PathChange } from "../files/source.ts";
import { absent, type BytePath, isTextSize, type Version, versionOf } from "../files/version.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { zeroSeparated } from "./run-git.ts";

interface Blob {
  readonly mode: string;
  readonly id: string;
}

interface RawChange {
  readonly path: BytePath;
  readonly before: Blob;
  readonly after: Blob;
}

export async function treeChanges(
  dir: PrivateGitDir,
  [before, after]: readonly [string, string],
  isWanted: (path: BytePath) => boolean,
): Promise<PathChange[]> {
  if (before === after) return [];
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after];
  const raw = parseRaw(zeroSeparated(await dir.run(args))).filter(({ path }) => isWanted(path));
  const contents = await readBlobs(
    dir,
    raw.flatMap((change) => [change.before, change.after]),
  );
  return raw.map((change) => ({
    path: change.path,
    before: blobVersion(dir, change.before, contents),
    after: blobVersion(dir, change.after, contents),
  }));
}

/** `:mode mode id id STATUS NUL path NUL` */
function parseRaw(parts: readonly string[]): RawChange[] {
  const changes: RawChange[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [oldMode = "", newMode = "", oldId = "", newId = ""] = (parts[i] ?? "").slice(1).split(" ");
    changes.push({
      path: parts[i + 1] ?? "",
      before: { mode: oldMode, id: oldId },
      after: { mode: newMode, id: newId },
    });
  }
  return changes;
}

function blobVersion(dir: PrivateGitDir, { mode, id }: Blob, contents: Contents): Version {
  if (mode === "000000") return absent;
  const content = contents.get(id);
  if (content === undefined)
    return { type: "other", what: "a file whose content is gone from the repository" };
  const isExecutable = mode === "100755";
  if (typeof content === "number") {
    return { type: "bytes", isExecutable, size: content, id, load: () => dir.run(["cat-file", "blob", id]) };
  }
  if (mode === "120000") return { type: "link", target: content.toString("latin1") };
  return versionOf(content, isExecutable, dir.hash);
}

/** The content of small objects, and the size of large ones. */
type Contents = ReadonlyMap<string, Buffer | number>;

async function readBlobs(dir: PrivateGitDir, blobs: readonly Blob[]): Promise<Contents> {
  const contents = new Map<string, Buffer | number>();
  const ids = [
    ...new Set(blobs.filter(({ mode }) => mode !== "000000" && mode !== "160000").map(({ id }) => id)),
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
