// Makes a copy of the user's index fit for snapshots: entries that do not tell the bytes of the working tree are read again.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { BytePath } from "../files/version.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { zeroSeparated } from "./run-git.ts";

interface IndexEntry {
  readonly mode: string;
  readonly id: string;
  readonly stage: string;
  readonly path: BytePath;
  /** The size of the file when git last looked. */
  readonly size: number;
  readonly flags: number;
}

/** What was found in the index. */
export interface FirstLook {
  /** Submodules. */
  readonly nested: readonly BytePath[];
  /** Large files whose bytes git does not store as they are (LFS). */
  readonly large: readonly BytePath[];
  readonly paths: readonly BytePath[];
}

const assumeUnchanged = 0x8000;
const skipWorktree = 0x4000_0000;

export async function firstLook(
  dir: PrivateGitDir,
  mayConvert: boolean,
  maxBytes: number,
): Promise<FirstLook> {
  const entries = parseEntries(await dir.run(["ls-files", "-s", "-z", "--debug"]));
  const nested = entries.filter(({ mode }) => mode === "160000").map(({ path }) => path);
  const again = new Set(
    entries.filter(({ flags, mode }) => (flags & assumeUnchanged) !== 0 && mode !== "160000"),
  );
  const large: BytePath[] = [];
  if (mayConvert || (await hasAttributes(dir, entries))) {
    for (const entry of await convertedEntries(dir, entries)) {
      if (entry.size > maxBytes) large.push(entry.path);
      else again.add(entry);
    }
  }
  // an entry without the facts of its file: git reads the file at the next look
  const lines = [
    ...nested.map((path) => `0 ${"0".repeat(40)}\t${path}\0`),
    ...Array.from(again, ({ mode, id, stage, path }) => `${mode} ${id} ${stage}\t${path}\0`),
  ];
  if (lines.length > 0) await dir.run(["update-index", "-z", "--index-info"], { input: lines.join("") });
  return { nested, large, paths: entries.map(({ path }) => path) };
}

/** `mode id stage TAB path NUL` and five lines with the facts of the file. */
function parseEntries(output: Buffer): IndexEntry[] {
  const text = output.toString("latin1");
  const entries: IndexEntry[] = [];
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\0", start);
    const tab = text.indexOf("\t", start);
    const [mode = "", id = "", stage = ""] = text.slice(start, tab).split(" ");
    const path = text.slice(tab + 1, end);
    let at = end + 1;
    for (let line = 0; line < 4; line += 1) at = text.indexOf("\n", at) + 1;
    const last = text.indexOf("\n", at);
    const facts = /size: (\d+)\tflags: ([0-9a-f]+)/.exec(text.slice(at, last));
    entries.push({
      mode,
      id,
      stage,
      path,
      size: Number(facts?.[1]),
      flags: Number.parseInt(facts?.[2] ?? "0", 16),
    });
    start = last + 1;
  }
  return entries;
}

async function hasAttributes(dir: PrivateGitDir, entries: readonly IndexEntry[]): Promise<boolean> {
  if (entries.some(({ path }) => path === ".gitattributes" || path.endsWith("/.gitattributes"))) return true;
  return stat(join(dir.repository.worktree, ".gitattributes")).then(
    () => true,
    () => false,
  );
}

/** The entries whose file has other bytes than the object: another size, or a filter that may keep the size. */
async function convertedEntries(dir: PrivateGitDir, entries: readonly IndexEntry[]): Promise<IndexEntry[]> {
  const files = entries.filter(
    ({ mode, stage, flags }) => mode.startsWith("100") && stage === "0" && (flags & skipWorktree) === 0,
  );
  const [sizes, attributes] = await Promise.all([
    dir.run(["cat-file", "--batch-check=%(objectsize)", "--buffer"], {
      input: files.map(({ id }) => `${id}\n`).join(""),
    }),
    dir.run(["check-attr", "-z", "--stdin", "filter"], {
      input: files.map(({ path }) => `${path}\0`).join(""),
    }),
  ]);
  const storedSizes = sizes.toString("latin1").split("\n");
  const values = zeroSeparated(attributes);
  return files.filter(({ size }, index) => {
    const filter = values[index * 3 + 2];
    return String(size) !== storedSizes[index] || (filter !== "unspecified" && filter !== "unset");
  });
}
