// The files below a directory, in the order of their names, without what git ignores and without the innards of
// version control. Other hidden files are files like all others. Links are not followed: they would lead in circles.

import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import type { ToolContext } from "../base/tool.ts";
import { type IgnoreRules, isIgnored, outerRules, withRulesOf } from "./ignore-rules.ts";

export interface FoundEntry {
  /** Absolute. */
  readonly path: string;
  /** 1 for what is in the directory itself. */
  readonly depth: number;
  readonly kind: "file" | "directory" | "link" | "other";
}

export interface WalkTreeOptions {
  /** Also what git ignores. Default false. */
  readonly withIgnored?: boolean;
  /** How deep to go. Default: all the way. */
  readonly maxDepth?: number;
}

const versionControl: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj"]);
/** Small files are read without a pause. So often others get their turn, and a cancel is heard. */
const atOnceMs = 10;

/** Directories come before what is in them. One that cannot be read is taken for empty. */
export async function* walkTree(
  context: ToolContext,
  directory: string,
  options: WalkTreeOptions = {},
): AsyncGenerator<FoundEntry> {
  const { withIgnored = false, maxDepth = Number.POSITIVE_INFINITY } = options;
  const { files, signal, vetoes } = context;
  const outermost = withIgnored ? [] : outerRules(directory);
  // Whoever names an ignored directory means it.
  const isMeant = isIgnored(outermost, directory, true);
  const ignores = !withIgnored && !isMeant;
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
      // whoever was given it has taken his time
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
