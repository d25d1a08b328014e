// Reads AGENTS.md files: those of the additional directories first, then from the project root down to `cwd`.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Vetoes } from "../tools/base/tool.ts";

const fileName = "AGENTS.md";
/** A longer file is cut, since every request carries it. */
const maxCharacters = 32_000;

export interface ContextFile {
  readonly path: string;
  readonly text: string;
}

export async function contextFiles(roots: readonly string[], vetoes?: Vetoes): Promise<ContextFile[]> {
  const [cwd, ...others] = roots;
  const folders = [...others.toReversed(), ...(cwd === undefined ? [] : foldersDownTo(cwd))];
  const paths = folders.map((folder) => join(folder, fileName)).filter((path) => existsSync(path));
  const hidden = paths.length === 0 ? undefined : await vetoes?.unreadable(paths);
  const files = await Promise.all(paths.filter((path) => !hidden?.has(path)).map(contextFile));
  return files.filter((file) => file !== undefined);
}

async function contextFile(path: string): Promise<ContextFile | undefined> {
  try {
    const text = await readFile(path, "utf8");
    if (text.trim() === "") return undefined;
    const isCut = text.length > maxCharacters;
    return { path, text: isCut ? `${text.slice(0, maxCharacters)}\n[cut: the file is longer]` : text };
  } catch {
    // removed or unreadable
    return undefined;
  }
}

/** From the repository root down; without a repository only the working directory. */
function foldersDownTo(cwd: string): string[] {
  const folders = [cwd];
  for (let folder = cwd; !existsSync(join(folder, ".git")); folder = dirname(folder)) {
    if (dirname(folder) === folder) return [cwd];
    folders.unshift(dirname(folder));
  }
  return folders;
}
