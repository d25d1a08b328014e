// Reads the instructions that people keep for agents: AGENTS.md, else CLAUDE.md, of the user, the project and its folders.

import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { foldersDownTo } from "../skills/project-folders.ts";
import type { Vetoes } from "../tools/base/tool.ts";

const fileNames = ["AGENTS.md", "CLAUDE.md"] as const;
/** A longer file is cut, since every request carries it. */
const maxCharacters = 32_000;

export interface RulesFile {
  readonly path: string;
  readonly text: string;
}

interface RulesOptions {
  readonly roots: readonly string[];
  readonly vetoes?: Vetoes | undefined;
}

/** The rules for the whole session, the most general first: those of the user, then from the repository root down. */
export async function houseRules({
  roots,
  vetoes,
  userFolder,
}: RulesOptions & { readonly userFolder?: string | undefined }): Promise<RulesFile[]> {
  const [cwd, ...others] = roots;
  const project = cwd === undefined ? [] : foldersDownTo(cwd);
  const own = userFolder === undefined ? undefined : await contents(join(userFolder, fileNames[0]));
  const theirs = await Promise.all([
    ...others.toReversed().map((root) => readable([root], root, vetoes)),
    readable(project, project[0] ?? "", vetoes),
  ]);
  return [...(own === undefined ? [] : [own]), ...theirs.flat().filter(({ path }) => path !== own?.path)];
}

/**
 * The rules of folders below the roots on the way to the paths, as a message for the model. Folders in `known` are left
 * out, and new ones are added to it. What git ignores, such as an installed package, has no say.
 */
export async function nestedRules(
  paths: readonly string[],
  known: Set<string>,
  { roots, vetoes }: RulesOptions,
): Promise<string | undefined> {
  const found: RulesFile[] = [];
  for (const path of paths) {
    const root = roots.filter((each) => path.startsWith(each + sep)).toSorted(byLength)[0];
    if (root === undefined) continue;
    const fresh = foldersBetween(root, path).filter((folder) => !known.has(folder));
    for (const folder of fresh) known.add(folder);
    const files = await readable(await ruledOf(fresh), root, vetoes);
    // the model reads the file itself
    found.push(...files.filter((file) => file.path !== path));
  }
  if (found.length === 0) return undefined;
  return ["These folders have their own instructions, for all files in them:", ...found.map(quoted)].join(
    "\n",
  );
}

export function quoted({ path, text }: RulesFile): string {
  return `<instructions from=${JSON.stringify(path)}>\n${text.trim()}\n</instructions>`;
}

function byLength(a: string, b: string): number {
  return b.length - a.length;
}

/** Those with rules of their own, without the code of others. */
async function ruledOf(folders: readonly string[]): Promise<readonly string[]> {
  const ruled = folders.filter(
    (folder) => rulesIn(folder) !== undefined && !folder.split(sep).includes("node_modules"),
  );
  if (ruled.length === 0) return ruled;
  // loaded on use: a session that is only opened does not need it
  const { rulesAbove } = await import("../tools/search/walk-tree.ts");
  return ruled.filter((folder) => !rulesAbove(folder).isIgnored);
}

function rulesIn(folder: string): string | undefined {
  return fileNames.map((name) => join(folder, name)).find((path) => existsSync(path));
}

/** The rules in these folders that the client lets be read, and that do not lead out of `top` by a link. */
async function readable(
  folders: readonly string[],
  top: string,
  vetoes: Vetoes | undefined,
): Promise<RulesFile[]> {
  const files = folders.flatMap((folder) => rulesIn(folder) ?? []);
  if (files.length === 0) return [];
  const realTop = await realpath(top).catch(() => top);
  const named = await Promise.all(
    files.map(async (path) => ({ path, real: await realpath(path).catch(() => "") })),
  );
  const inside = named.filter(({ real }) => real.startsWith(realTop + sep));
  const names = new Set(inside.flatMap(({ path, real }) => [path, real]));
  // a client that does not answer has not agreed
  const hidden = await vetoes?.unreadable([...names]).catch(() => names);
  const allowed = inside.filter(({ path, real }) => !hidden?.has(path) && !hidden?.has(real));
  const texts = await Promise.all(allowed.map(({ path }) => contents(path)));
  return texts.filter((file) => file !== undefined);
}

async function contents(path: string): Promise<RulesFile | undefined> {
  try {
    const text = await readFile(path, "utf8");
    if (text.trim() === "") return undefined;
    const isCut = text.length > maxCharacters;
    return {
      path,
      text: isCut ? `${text.slice(0, maxCharacters)}\n[the file is longer and was cut here]` : text,
    };
  } catch {
    // removed or unreadable
    return undefined;
  }
}

/** The folders below the root on the way to a path, and the path itself, which may be one. */
function foldersBetween(root: string, path: string): string[] {
  const steps = relative(root, path).split(sep);
  return steps.map((_, i) => join(root, ...steps.slice(0, i + 1)));
}
