// Says which rules the operating system holds for commands in a sandbox, and which only Parley does.

import { join, resolve } from "node:path";
import { everyLine } from "./command-pattern.ts";
import { pathPattern } from "./path-pattern.ts";
import type { Rule } from "./rule.ts";

/** A path that commands in a sandbox may not touch (`none`), may only read, or may also write. */
export interface RuleMount {
  /** An absolute path. */
  readonly path: string;
  /** What commands may do there. */
  readonly access: "none" | "read" | "write";
}

/** Who enforces a rule for a command that runs in a sandbox. */
export interface RuleEnforcement {
  /** The rule. */
  readonly rule: Rule;
  /** `system`: the operating system, whatever the command does. `parley`: only Parley, before it runs the command. */
  readonly by: "system" | "parley";
  /** The paths that a sandbox mounts for the rule. For a name at any depth these are only the first places. */
  readonly mounts: readonly RuleMount[];
}

/**
 * Tells which rules the operating system enforces for commands in a sandbox. No file is read.
 *
 * @example
 * import { enforcementOf, parsePolicy } from "@parley/client/policy";
 *
 * const { rules } = parsePolicy("deny read secrets/**", "user", "policy");
 * for (const { by, mounts } of enforcementOf(rules, ["/home/me/project"])) console.log(by, mounts);
 */
export function enforcementOf(rules: readonly Rule[], roots: readonly string[]): RuleEnforcement[] {
  return rules.map((rule) => {
    if (rule.operation === "net") return { rule, by: "system", mounts: [] };
    const access = accessOf(rule);
    if (access === undefined) return { rule, by: "parley", mounts: [] };
    const { paths, isAll } = plainPaths(rule, roots);
    return { rule, by: isAll ? "system" : "parley", mounts: paths.map((path) => ({ path, access })) };
  });
}

/** What a sandbox can make of a rule. Below the roots a rule that allows opens nothing: they are open. */
function accessOf({ effect, operation, origin, pattern, exact }: Rule): RuleMount["access"] | undefined {
  if (operation === "read") return effect === "deny" ? "none" : undefined;
  if (operation !== "write") return undefined;
  if (effect === "deny") return "read";
  // nobody can be asked while a command runs, and what a workspace asks about is run or obeyed by others
  if (effect === "ask" && origin === "workspace") return "read";
  const isOpening =
    effect === "allow" && origin !== "workspace" && pattern !== undefined && exact === undefined;
  return isOpening && pathPattern(pattern).from === "system" ? "write" : undefined;
}

/** The paths of `DIR`, `DIR/**` and of an answer. `isAll`: the rule is about nothing else. */
function plainPaths(
  { pattern = everyLine, exact }: Rule,
  roots: readonly string[],
): { readonly paths: readonly string[]; readonly isAll: boolean } {
  if (exact !== undefined) return { paths: exact.path === undefined ? [] : [exact.path], isAll: true };
  const { from, names } = pathPattern(pattern);
  const plain = (names.at(-1) === everyLine ? names.slice(0, -1) : names).map((name) =>
    name === everyLine ? undefined : name.literal,
  );
  if (!plain.every((name) => name !== undefined)) return { paths: [], isAll: false };
  const folders = from === "system" ? [resolve("/")] : roots;
  return { paths: folders.map((folder) => join(folder, ...plain)), isAll: from !== "anywhere" };
}
