// Builds the system prompt with the AGENTS.md files of the project, and the note about what changes within a session.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AgentSession, textOf } from "@parley/acp";
import type { Mode } from "../permissions/modes.ts";
import type { Job, Vetoes } from "../tools/base/tool.ts";

const identity = `You are Parley, a coding agent that works in the user's project through tools.
- Look before you change: read files before editing them, and search instead of guessing.
- Make the smallest change that does what was asked, in the style of the code around it.
- For work of several steps keep a plan with the todo tool, and keep it up to date.
- Check what you did where you can: run the tests, read the result.
- When the user rejects a call, do not do the same by other means.
- Answer briefly, in Markdown, with paths relative to the working directory.`;

const modeRules: Readonly<Record<Mode, string>> = {
  ask: "Mode ask: the user is asked before every change and every command.",
  code: "Mode code: files of the project may be edited without asking; commands and hosts are asked about.",
  architect:
    "Mode architect: read and plan, change nothing. When the plan is ready, offer to leave this mode.",
  chat: "Mode chat: answer questions. There are no tools that touch anything.",
};

/** What changes within a session. It comes with a message: a changed system prompt would not be in the provider's cache. */
export function situation(mode: Mode, jobs: readonly Job[], now: Date): string {
  const beside = jobs.map(({ id, command }) => `Runs in the background: ${id} ${JSON.stringify(command)}`);
  return [modeRules[mode], `Date: ${now.toLocaleDateString("sv")}`, ...beside].join("\n");
}

export function systemPrompt(
  session: AgentSession,
  context: readonly ContextFile[],
  more: string | ((ours: string) => string) = "",
): string {
  const { systemPrompt: given, roots, cwd } = session;
  const theirs = given === undefined ? "" : given.content.map((block) => textOf(block)).join("\n");
  const own = typeof more === "function" ? more(identity) : `${identity}\n\n${more}`.trim();
  const ours = given?.mode === "override" ? [] : [own];
  const files = context.map(
    ({ path, text }) => `<instructions from=${JSON.stringify(path)}>\n${text.trim()}\n</instructions>`,
  );
  if (files.length > 1) files.push("Where instructions disagree, the last ones count.");
  const place = [`Working directory: ${cwd}`, ...roots.slice(1).map((root) => `Also allowed: ${root}`)];
  return [...ours, theirs, ...files, place.join("\n")].filter((part) => part !== "").join("\n\n");
}

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
