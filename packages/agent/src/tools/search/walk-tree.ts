// Walks a directory tree by name, without ignored files and version control data; links are not followed.

import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import ignore, { type Ignore } from "ignore";
import picomatch from "picomatch";
import type { AgentFiles } from "../base/agent-files.ts";
import type { ToolContext } from "../base/tool.ts";

export interface FoundEntry {
  readonly path: string;
  /** 1 for entries of the directory itself. */
  readonly depth: number;
  readonly kind: "file" | "directory" | "link" | "other";
}

const versionControl: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj"]);
/** Yields to other work this often, so that a cancel is noticed. */
const atOnceMs = 10;

/** A directory comes before its entries. An unreadable one counts as empty. */
export async function* walkTree(
  context: ToolContext,
  directory: string,
  { withIgnored, maxDepth = Number.POSITIVE_INFINITY }: { withIgnored: boolean; maxDepth?: number },
): AsyncGenerator<FoundEntry> {
  const { files, signal, vetoes } = context;
  const outermost = withIgnored ? [] : (outerRules(directory) ?? []);
  // an ignored directory that was named is searched
  const ignores = !withIgnored && !isIgnored(outermost, directory, true);
  let since = performance.now();
  yield* below(directory, 1, ignores ? outermost : []);

  async function* below(at: string, depth: number, outer: IgnoreRules): AsyncGenerator<FoundEntry> {
    await pause();
    const entries = await files.list(at).catch((error: unknown) => {
      if (depth === 1) throw error;
      return [];
    });
    const has = (wanted: string) => entries.some(({ name }) => name === wanted);
    // a repository within another one has only its own rules
    const inherited = ignores && depth > 1 && has(".git") ? excludedBy(at) : outer;
    const rules = ignores && has(".gitignore") ? await withRulesOf(files, at, inherited) : inherited;
    const folders = depth < maxDepth ? entries.filter(({ kind }) => kind === "directory") : [];
    const closed = await vetoes?.unreadable(folders.map(({ name }) => join(at, name)));
    for (const { name, kind } of entries) {
      if (versionControl.has(name)) continue;
      const path = join(at, name);
      if (rules.length > 0 && isIgnored(rules, path, kind === "directory")) continue;
      yield { path, depth, kind };
      // the consumer may have taken long
      await pause();
      if (kind === "directory" && depth < maxDepth && !closed?.has(path))
        yield* below(path, depth + 1, rules);
    }
  }

  async function pause(): Promise<void> {
    if (performance.now() - since > atOnceMs) {
      await immediate();
      since = performance.now();
    }
    signal.throwIfAborted();
  }
}

interface Rules {
  /** Absolute; the patterns are relative to it. */
  readonly directory: string;
  readonly patterns: Ignore;
}

/** Innermost first. */
type IgnoreRules = readonly Rules[];

const maxRuleBytes = 1024 * 1024;

export interface AboveRules {
  readonly isInRepository: boolean;
  /** The directory itself is ignored. Where it was named, all of it is searched. */
  readonly isIgnored: boolean;
}

export function rulesAbove(directory: string): AboveRules {
  const rules = outerRules(directory);
  return { isInRepository: rules !== undefined, isIgnored: isIgnored(rules ?? [], directory, true) };
}

/** The rules from above a directory, without its own .gitignore. Undefined when it is not in a repository. */
function outerRules(directory: string): IgnoreRules | undefined {
  const above: string[] = [];
  for (let at = directory; ; at = dirname(at)) {
    if (at !== directory) above.push(at);
    if (existsSync(join(at, ".git")))
      return [...above.flatMap((each) => rulesIn(join(each, ".gitignore"), each)), ...excludedBy(at)];
    if (dirname(at) === at) return undefined;
  }
}

/** The rules of a repository that are not part of it. */
function excludedBy(repository: string): Rules[] {
  const exclude = join(commonDirectory(join(repository, ".git")), "info", "exclude");
  return rulesIn(exclude, repository);
}

/** Adds the directory's own .gitignore, read like any other file. */
async function withRulesOf(files: AgentFiles, directory: string, outer: IgnoreRules): Promise<IgnoreRules> {
  try {
    const bytes = await files.readBytes(join(directory, ".gitignore"));
    if (bytes.length > maxRuleBytes) return outer;
    return [{ directory, patterns: parsed(Buffer.from(bytes).toString()) }, ...outer];
  } catch {
    // none, or unreadable
    return outer;
  }
}

function parsed(text: string): Ignore {
  return ignore({ ignorecase: false, allowRelativePaths: true }).add(text);
}

function isIgnored(rules: IgnoreRules, path: string, isDirectory: boolean): boolean {
  for (const { directory, patterns } of rules) {
    const below = relative(directory, path).split(sep).join("/");
    if (below === "") continue;
    const { ignored, unignored } = patterns.test(isDirectory ? `${below}/` : below);
    if (ignored) return true;
    if (unignored) return false;
  }
  return false;
}

function rulesIn(file: string, directory: string): Rules[] {
  const text = plainText(file);
  return text === undefined ? [] : [{ directory, patterns: parsed(text) }];
}

/** Undefined when there is none. A pipe, a device or a link that leads to one would never end. */
function plainText(file: string): string | undefined {
  try {
    const stat = lstatSync(file);
    return stat.isFile() && stat.size <= maxRuleBytes ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** In a worktree or submodule `.git` is a file that points to the repository. */
function commonDirectory(git: string): string {
  const target = /^gitdir: (.*)$/m.exec(plainText(git) ?? "")?.[1]?.trim();
  if (target === undefined) return git;
  const own = isAbsolute(target) ? target : resolve(dirname(git), target);
  const common = plainText(join(own, "commondir"));
  return common === undefined ? own : resolve(own, common.trim());
}

/** Matches shell patterns (*, **, ?, [a-z], {a,b}); a pattern without a slash matches names at any depth. */
export function pathPattern(pattern: string, directory: string): (path: string) => boolean {
  const below = pattern.replace(/^\.\//, "");
  const matches = picomatch(below, { dot: true, basename: !below.includes("/") });
  return (path) => matches(relative(directory, path).split(sep).join("/"));
}
