// Walks a directory tree by name, without ignored files and version control data; links are not followed.

import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import type { ToolContext } from "../base/tool.ts";
import { type IgnoreRules, isIgnored, outerRules, withRulesOf } from "./ignore-rules.ts";

export interface FoundEntry {
  readonly path: string;
  /** 1 for entries of the directory itself. */
  readonly depth: number;
  readonly kind: "file" | "directory" | "link" | "other";
}

export interface WalkTreeOptions {
  /** Include ignored files. Default false. */
  readonly withIgnored?: boolean;
  /** Default: unlimited. */
  readonly maxDepth?: number;
}

const versionControl: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj"]);
/** Yields to other work this often, so that a cancel is noticed. */
const atOnceMs = 10;

/** A directory comes before its entries. An unreadable one counts as empty. */
export async function* walkTree(
  context: ToolContext,
  directory: string,
  options: WalkTreeOptions = {},
): AsyncGenerator<FoundEntry> {
  const { withIgnored = false, maxDepth = Number.POSITIVE_INFINITY } = options;
  const { files, signal, vetoes } = context;
  const outermost = withIgnored ? [] : outerRules(directory);
  // an ignored directory that was named is searched
  const isIgnoredRoot = isIgnored(outermost, directory, true);
  const ignores = !withIgnored && !isIgnoredRoot;
  let since = performance.now();
  yield* below(directory, 1, ignores ? outermost : []);

  async function* below(at: string, depth: number, outer: IgnoreRules): AsyncGenerator<FoundEntry> {
    await pause();
    const entries = await files.list(at).catch((error: unknown) => {
      if (depth === 1) throw error;
      return [];
    });
    const hasRules = ignores && entries.some(({ name }) => name === ".gitignore");
    const rules = hasRules ? await withRulesOf(files, at, outer) : outer;
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
