// Reads the instructions that people keep for agents: AGENTS.md, else CLAUDE.md, of the user, the project and its folders.

import { existsSync } from "node:fs";
import { join, parse, relative, sep } from "node:path";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import { withoutNotes } from "../model/agent-requests.ts";
import { foldersDownTo } from "../skills/project-folders.ts";
import { isProtected } from "../tools/base/protected-paths.ts";
import type { Vetoes } from "../tools/base/tool.ts";

const fileNames = ["AGENTS.md", "CLAUDE.md"] as const;
/** A longer file is cut, since every request carries it. */
const maxCharacters = 32_000;
/** A project may have any number of files. The most general ones are left out first. */
const maxTogether = 128_000;

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
  const own = userFolder === undefined ? undefined : await ownRules(join(userFolder, fileNames[0]));
  const theirs = await Promise.all([
    ...others.toReversed().map((root) => readable([root], root, vetoes)),
    readable(project, project[0] ?? "", vetoes),
  ]);
  const ofProject = limited(theirs.flat().filter(({ path }) => path !== own?.path));
  return [...(own === undefined ? [] : [own]), ...ofProject];
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
  return [
    "These folders have their own instructions, for all files in them:",
    ...limited(found).map(quotedRules),
  ].join("\n");
}

function limited(files: readonly RulesFile[]): RulesFile[] {
  let left = maxTogether;
  return files
    .toReversed()
    .filter(({ text }) => {
      left -= text.length;
      return left >= 0;
    })
    .toReversed();
}

/** The text can neither end its place nor begin a note of ours. */
export function quotedRules({ path, text }: RulesFile): string {
  const words = withoutNotes(text.trim()).replaceAll(/<(?=\s*\/\s*instructions\b)/gi, "&lt;");
  return `<instructions from=${JSON.stringify(path)}>\n${words}\n</instructions>`;
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

/** The rules in these folders that the client lets be read, and that do not lead out of `top`, or to secrets, by a link. */
async function readable(
  folders: readonly string[],
  top: string,
  vetoes: Vetoes | undefined,
): Promise<RulesFile[]> {
  const paths = folders.flatMap((folder) => rulesIn(folder) ?? []);
  if (paths.length === 0) return [];
  await using files = opened(top);
  if (files === undefined) return [];
  const named = await Promise.all(
    paths.map(async (path) => ({ path, real: await files.realPath(path).catch(() => undefined) })),
  );
  const inside = named.flatMap(({ path, real }) =>
    real === undefined || isProtected(real, "read") ? [] : [{ path, real }],
  );
  const names = new Set(inside.flatMap(({ path, real }) => [path, real]));
  // a client that does not answer has not agreed
  const hidden = await vetoes?.unreadable([...names]).catch(() => names);
  const allowed = inside.filter(({ path, real }) => !hidden?.has(path) && !hidden?.has(real));
  const texts = await Promise.all(allowed.map((file) => contents(files, file)));
  return texts.filter((file) => file !== undefined);
}

/** The user's own, wherever a link leads. */
async function ownRules(path: string): Promise<RulesFile | undefined> {
  await using files = opened(parse(path).root);
  const real = await files?.realPath(path).catch(() => undefined);
  return files === undefined || real === undefined ? undefined : contents(files, { path, real });
}

/** Undefined when the folder is gone. */
function opened(folder: string): LocalFiles | undefined {
  try {
    return localFiles({ roots: [folder] });
  } catch {
    return undefined;
  }
}

/** Only of a regular file, so that a pipe cannot hold it up, and of no link that took its place. */
async function contents(
  files: LocalFiles,
  { path, real }: { readonly path: string; readonly real: string },
): Promise<RulesFile | undefined> {
  // removed or unreadable
  const text = await files.readText(real, { followLinks: false }).catch(() => "");
  if (text.trim() === "") return undefined;
  const isCut = text.length > maxCharacters;
  const shown = isCut ? `${text.slice(0, maxCharacters)}\n[the file is longer and was cut here]` : text;
  return { path, text: shown };
}

/** The folders below the root on the way to a path, and the path itself, which may be one. */
function foldersBetween(root: string, path: string): string[] {
  const steps = relative(root, path).split(sep);
  return steps.map((_, i) => join(root, ...steps.slice(0, i + 1)));
}
