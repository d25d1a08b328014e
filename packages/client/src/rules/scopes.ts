// The scopes that an answer may have, and the rule that remembers it.

import { optional } from "@parley/acp/jsonrpc";
import type { PermissionScope, RuleSubject } from "../subjects/subject.ts";
import { everyLine, patternFor } from "./command-pattern.ts";
import type { Verdict } from "./decide-by-rules.ts";
import { isThisMachine, thisMachine } from "./host-pattern.ts";
import { escapedPattern } from "./path-pattern.ts";
import type { RuleTarget } from "./rule.ts";
import { parseRule } from "./rule-text.ts";

const scopes: readonly PermissionScope[] = ["once", "session", "workspace", "always"];

/** How many of them: all for what changes nothing, and for exactly this command. */
const reaches = { read: 4, exec: 4, write: 3, net: 3, mcp: 3, mode: 2, other: 1 } as const;

/** Narrowest first. `once` is always among them. */
export function scopesFor(subjects: readonly RuleSubject[], verdict: Verdict): readonly PermissionScope[] {
  const reach = subjects.map((subject) => {
    if (verdict.always || targetOf(subject) === undefined) return 1;
    return subject.shellLine === undefined ? reaches[subject.operation] : 2;
  });
  return scopes.slice(0, Math.min(...reach));
}

/** The narrowest rule that allows this, as people write it. Undefined where none can. */
export function ruleFor(subject: RuleSubject, roots: readonly string[]): string | undefined {
  const { operation, path, host, tool, shellLine, labelOnly = false } = subject;
  if (operation === "exec" && (labelOnly || shellLine !== undefined)) return `exec ${everyLine}`;
  if (labelOnly) return undefined;
  const pattern =
    operation === "exec"
      ? patternFor(subject, roots[0] ?? "/")
      : (targetOf(subject)?.pattern ?? host ?? (tool && `${tool.server}/${tool.name}`));
  const text = `${operation} ${pattern ?? (path === undefined ? "" : escapedPattern(path))}`;
  try {
    const read = parseRule(text, { effect: "allow", origin: "user" });
    // blanks around a path are not part of it
    return read.pattern === undefined || text.endsWith(" ") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** What is remembered of an answer: exactly what was shown. Undefined: that does not say what it is. */
export function targetOf(subject: RuleSubject): RuleTarget | undefined {
  const { operation, path, deletes, argv, shellLine, cwd, env, host, tool, mode, labelOnly } = subject;
  const isSaid = [path, argv, shellLine, host, tool, mode].some((each) => each !== undefined);
  if (labelOnly || !isSaid) return undefined;
  // the question says that it means all of it
  if (host !== undefined && isThisMachine(host)) return { operation, pattern: thisMachine };
  const exact = { operation, ...optional({ path, deletes, argv, shellLine, cwd, env, host, tool, mode }) };
  return { operation, exact };
}
