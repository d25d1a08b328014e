// Evaluates .gitignore files and .git/info/exclude, inner rules before outer ones.

import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import type { AgentFiles } from "../base/tool.ts";

interface Rules {
  /** Absolute; the patterns are relative to it. */
  readonly directory: string;
  readonly patterns: Ignore;
}

/** Innermost first. */
export type IgnoreRules = readonly Rules[];

const maxRuleBytes = 1024 * 1024;

/** The rules from above a directory, without its own .gitignore. */
export function outerRules(directory: string): IgnoreRules {
  const above: string[] = [];
  for (let at = directory; ; at = dirname(at)) {
    if (at !== directory) above.push(at);
    if (existsSync(join(at, ".git"))) {
      const exclude = join(commonDirectory(join(at, ".git")), "info", "exclude");
      return [...above.flatMap((each) => rulesIn(join(each, ".gitignore"), each)), ...rulesIn(exclude, at)];
    }
    // not in a repository
    if (dirname(at) === at) return [];
  }
}

/** Adds the directory's own .gitignore, read like any other file. */
export async function withRulesOf(
  files: AgentFiles,
  directory: string,
  outer: IgnoreRules,
): Promise<IgnoreRules> {
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

export function isIgnored(rules: IgnoreRules, path: string, isDirectory: boolean): boolean {
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
  try {
    const stat = lstatSync(file);
    if (!stat.isFile() || stat.size > maxRuleBytes) return [];
    return [{ directory, patterns: parsed(readFileSync(file, "utf8")) }];
  } catch {
    return [];
  }
}

/** In a worktree or submodule `.git` is a file that points to the repository. */
function commonDirectory(git: string): string {
  try {
    if (statSync(git).isDirectory()) return git;
    const target = /^gitdir: (.*)$/m.exec(readFileSync(git, "utf8"))?.[1]?.trim() ?? "";
    const own = isAbsolute(target) ? target : resolve(dirname(git), target);
    const common = join(own, "commondir");
    return existsSync(common) ? resolve(own, readFileSync(common, "utf8").trim()) : own;
  } catch {
    return git;
  }
}
