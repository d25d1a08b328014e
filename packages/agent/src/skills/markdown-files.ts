// Finds the Markdown files that people bring along: in a project, in its `.agents` and `.claude` folders, and in their own folder.

import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, sep } from "node:path";

export interface Places {
  /** Folders of the project, outermost first. Their files must lie in one of them, wherever links lead. */
  readonly projectFolders: readonly string[];
  /** The user's own folder. With it the user's `.agents` and `.claude` are searched too. */
  readonly userFolder?: string;
}

export interface MarkdownFile {
  readonly path: string;
  /** Below the folder that was searched, such as `git/commit.md`. */
  readonly relativePath: string;
  readonly text: string;
  /** Part of the project: the client's rules hold for it. */
  readonly isOfProject: boolean;
}

/** A longer file is not read. */
const maxBytes = 64 * 1024;
const maxFiles = 200;
const maxDepth = 4;

/** The files below `skills` or `commands` whose name fits, least important first. */
export async function markdownFiles(
  kind: "skills" | "commands",
  places: Places,
  fits: (name: string) => boolean,
): Promise<MarkdownFile[]> {
  const found = await Promise.all(
    searched(kind, places).map(async ({ folder, within }) => {
      const paths: string[] = [];
      await collect(folder, fits, paths, 0);
      const files = await Promise.all(
        paths.sort().map((path) => fileAt(path, relative(folder, path), within)),
      );
      return files.filter((file) => file !== undefined);
    }),
  );
  return found.flat();
}

interface Searched {
  readonly folder: string;
  /** Where the files must lie; undefined for the user's own. */
  readonly within?: readonly string[];
}

function searched(kind: string, { projectFolders, userFolder }: Places): Searched[] {
  const own =
    userFolder === undefined
      ? []
      : [join(homedir(), ".claude"), join(homedir(), ".agents"), userFolder].map((folder) => ({
          folder: join(folder, kind),
        }));
  const ofProject = projectFolders.flatMap((folder) =>
    [".claude", ".agents"].map((name) => ({ folder: join(folder, name, kind), within: projectFolders })),
  );
  return [...own, ...ofProject];
}

async function collect(
  folder: string,
  fits: (name: string) => boolean,
  paths: string[],
  depth: number,
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (paths.length >= maxFiles) return;
    const path = join(folder, entry.name);
    if (fits(entry.name)) paths.push(path);
    // a link to a folder is followed once: people link their skills from elsewhere
    else if (depth < maxDepth && (entry.isDirectory() || (depth === 0 && (await isFolder(path)))))
      await collect(path, fits, paths, depth + 1);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

async function fileAt(
  path: string,
  relativePath: string,
  within: readonly string[] | undefined,
): Promise<MarkdownFile | undefined> {
  try {
    const real = await realpath(path);
    if (within !== undefined) {
      const roots = await Promise.all(within.map((folder) => realpath(folder)));
      if (!roots.some((root) => real.startsWith(root.endsWith(sep) ? root : root + sep))) return undefined;
    }
    const facts = await stat(real);
    if (!facts.isFile() || facts.size > maxBytes) return undefined;
    const text = await readFile(real, "utf8");
    return { path, relativePath, text, isOfProject: within !== undefined };
  } catch {
    // removed or unreadable
    return undefined;
  }
}

/** The names of the other files in a folder, at most so many. */
export async function namesBeside(path: string, most: number): Promise<string[]> {
  const entries = await readdir(dirname(path), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && join(entry.parentPath, entry.name) !== path)
    .slice(0, most)
    .map((entry) => relative(dirname(path), join(entry.parentPath, entry.name)))
    .sort();
}
