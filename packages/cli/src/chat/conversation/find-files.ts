// Finds files and folders of a workspace by what was typed after `@`.

import { readdir } from "node:fs/promises";
import { join } from "node:path";

const mostFiles = 100_000;
const mostFound = 50;
const mostFolders = 5_000;
const patienceMs = 5_000;
/** A list this old is made again. */
const freshMs = 5_000;
/** Never worth a mention where no .gitignore says so. */
const skipped = new Set([".git", "node_modules", ".hg", ".svn"]);

export class WorkspaceFiles {
  readonly #cwd: string;
  #listed: { readonly at: number; readonly files: Promise<readonly string[]> } | undefined;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Paths relative to the folder, best first. Those of folders end with a slash. */
  async find(query: string, signal: AbortSignal): Promise<readonly string[]> {
    const now = performance.now();
    if (this.#listed === undefined || now - this.#listed.at > freshMs)
      this.#listed = { at: now, files: listFiles(this.#cwd) };
    const files = await this.#listed.files;
    return signal.aborted ? [] : bestMatches(files, query);
  }
}

/** Those that contain all characters of the query in order; matches in the name and at the beginnings of words first. */
export function bestMatches(files: readonly string[], query: string): readonly string[] {
  const wanted = query.toLowerCase();
  if (wanted === "") return files.toSorted((one, other) => depthOf(one) - depthOf(other)).slice(0, mostFound);
  const scored = files.flatMap((path) => {
    const score = scoreOf(path, wanted);
    return score === undefined ? [] : [{ path, score }];
  });
  scored.sort((one, other) => other.score - one.score || one.path.length - other.path.length);
  return scored.slice(0, mostFound).map(({ path }) => path);
}

/** Folders of the same depth come before files. */
function depthOf(path: string): number {
  const isFolder = path.endsWith("/");
  return path.split("/").length * 2 - (isFolder ? 3 : 0);
}

function scoreOf(path: string, wanted: string): number | undefined {
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf("/", lower.length - 2) + 1);
  if (name.startsWith(wanted)) return 3_000;
  if (name.includes(wanted)) return 2_000;
  if (lower.includes(wanted)) return 1_000;
  let score = 0;
  let at = -1;
  for (const char of wanted) {
    const next = lower.indexOf(char, at + 1);
    if (next < 0) return undefined;
    if (next === at + 1) score += 5;
    else if (/[/._-]/.test(lower[next - 1] ?? "/")) score += 8;
    at = next;
  }
  return score;
}

async function listFiles(cwd: string): Promise<readonly string[]> {
  const files = (await gitFiles(cwd)) ?? (await walkedFiles(cwd));
  return [...foldersOf(files), ...files];
}

/** The folders that files are in, with a slash at the end. */
function foldersOf(files: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

/** Undefined outside of a repository, and without git. */
async function gitFiles(cwd: string): Promise<readonly string[] | undefined> {
  const { repositoryFiles } = await import("@parley/review");
  const files = await repositoryFiles({ folder: cwd, signal: AbortSignal.timeout(patienceMs) });
  return files?.slice(0, mostFiles);
}

async function walkedFiles(cwd: string): Promise<readonly string[]> {
  const files: string[] = [];
  const folders = [""];
  for (let count = 0; count < mostFolders && files.length < mostFiles; count++) {
    const folder = folders.shift();
    if (folder === undefined) break;
    // one that cannot be read is left out
    const entries = await readdir(join(cwd, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) files.push(path);
      else if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(path);
    }
  }
  return files;
}
