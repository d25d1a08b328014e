// Finds the Markdown files that people bring along: in a project, in its `.agents` and `.claude` folders, and in their own folder.

import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, parse, relative } from "node:path";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import { isProtected } from "../tools/base/protected-paths.ts";

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
  readonly origin: FileOrigin;
}

/** Where a file was found. */
export interface FileOrigin {
  /** Where links lead. */
  readonly real: string;
  /** Folders that it must lie in. */
  readonly within: readonly string[];
  /** Part of the project: the client's rules hold for it. */
  readonly isOfProject: boolean;
}

/** A longer file is not read. */
const maxBytes = 64 * 1024;
const maxFiles = 200;
const maxDepth = 4;
/** A project may have any number of them. */
const maxEntries = 10_000;

/** The files below `skills` or `commands` whose name fits, least important first. */
export async function markdownFiles(
  kind: "skills" | "commands",
  places: Places,
  fits: (name: string) => boolean,
): Promise<MarkdownFile[]> {
  const found = await Promise.all(
    searched(kind, places).map(async ({ folder, within, isOfProject }) => {
      await using files = openFiles(within);
      if (files === undefined) return [];
      const paths = await pathsBelow(folder, ({ name }) => fits(name), maxFiles, files);
      const texts = await Promise.all(
        paths.map(async (path): Promise<MarkdownFile | undefined> => {
          const real = await files.realPath(path).catch(() => undefined);
          if (real === undefined || (isOfProject && isProtected(real, "read"))) return undefined;
          const origin = { real, within, isOfProject };
          const text = await readOrigin(files, origin);
          return text === undefined
            ? undefined
            : { path, relativePath: relative(folder, path), text, origin };
        }),
      );
      return texts.filter((file) => file !== undefined);
    }),
  );
  return found.flat();
}

/** The text as it is now; undefined when the file is gone, or when something else took its place. */
export async function textNow(origin: FileOrigin): Promise<string | undefined> {
  await using files = openFiles(origin.within);
  return files && readOrigin(files, origin);
}

/** Reads regular files only, so that a pipe cannot hold it up, and follows no link that took the place of the file. */
function readOrigin(files: LocalFiles, { real }: FileOrigin): Promise<string | undefined> {
  return files.readText(real, { followLinks: false }).catch(() => undefined);
}

/** Undefined when one of the folders cannot be opened. */
function openFiles(roots: readonly string[]): LocalFiles | undefined {
  try {
    return localFiles({ roots, maxReadBytes: maxBytes });
  } catch {
    return undefined;
  }
}

interface Searched {
  readonly folder: string;
  readonly within: readonly string[];
  readonly isOfProject: boolean;
}

function searched(kind: string, { projectFolders, userFolder }: Places): Searched[] {
  const own =
    userFolder === undefined
      ? []
      : [join(homedir(), ".claude"), join(homedir(), ".agents"), userFolder].map((folder) => ({
          folder: join(folder, kind),
          // people link their own from anywhere
          within: [parse(folder).root],
          isOfProject: false,
        }));
  const ofProject = projectFolders.flatMap((folder) =>
    [".claude", ".agents"].map((name) => ({
      folder: join(folder, name, kind),
      within: projectFolders,
      isOfProject: true,
    })),
  );
  return [...own, ...ofProject];
}

/** The paths of files and links that fit, by name. */
async function pathsBelow(
  top: string,
  fits: (entry: Dirent) => boolean,
  most: number,
  files: LocalFiles,
): Promise<string[]> {
  const paths: string[] = [];
  let left = maxEntries;
  await collect(top, 0);
  return paths.sort();

  async function collect(folder: string, depth: number): Promise<void> {
    for (const entry of (await entriesOf(folder)).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (paths.length >= most) return;
      const path = join(folder, entry.name);
      // a link to a folder is followed once: people link their skills from elsewhere
      const isFolder =
        entry.isDirectory() || (depth === 0 && entry.isSymbolicLink() && (await leadsToFolder(path)));
      if (!isFolder && fits(entry)) paths.push(path);
      else if (isFolder && depth < maxDepth) await collect(path, depth + 1);
    }
  }

  async function entriesOf(folder: string): Promise<Dirent[]> {
    const entries: Dirent[] = [];
    try {
      for await (const entry of await opendir(folder)) {
        if (left-- <= 0) break;
        entries.push(entry);
      }
    } catch {
      // missing or unreadable
    }
    return entries;
  }

  /** False when it leads out of where the files must lie. */
  async function leadsToFolder(path: string): Promise<boolean> {
    return (await files.stat(path).catch(() => undefined))?.kind === "directory";
  }
}

/** The names of the other files in a folder, at most so many. */
export async function namesBeside(path: string, { within }: FileOrigin, most: number): Promise<string[]> {
  await using files = openFiles(within);
  if (files === undefined) return [];
  const folder = dirname(path);
  const paths = await pathsBelow(folder, (entry) => entry.isFile(), most + 1, files);
  return paths
    .filter((each) => each !== path)
    .slice(0, most)
    .map((each) => relative(folder, each));
}
