// Matches rules against subjects.

import { areSameVariables } from "../subjects/harmless-variables.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { allowsCommand, everyLine, forbidsCommand } from "./command-pattern.ts";
import { hostNames, isThisMachine, matchesHost, thisMachine } from "./host-pattern.ts";
import { type PathMatcher, pathMatcher } from "./path-pattern.ts";
import type { ExactTarget, Rule } from "./rule.ts";

/** Where it is about to happen. */
export interface MatchContext {
  /** The directories of the session, canonical; the working directory first. */
  readonly roots: readonly string[];
  /** Which directory the first root is, whatever its name. */
  readonly identity: string;
  readonly now: number;
}

const matchers = new WeakMap<MatchContext, Map<string, PathMatcher>>();

/** Patterns are read, and their links followed, once for all that is decided at the same time. */
export function pathMatcherIn(context: MatchContext, pattern: string, isAllowing: boolean): PathMatcher {
  const known = matchers.get(context) ?? new Map<string, PathMatcher>();
  matchers.set(context, known);
  const key = `${isAllowing} ${pattern}`;
  const made = known.get(key) ?? pathMatcher(pattern, context.roots, isAllowing);
  known.set(key, made);
  return made;
}

export function matches(rule: Rule, subject: RuleSubject, context: MatchContext): boolean {
  const { operation, exact, pattern = everyLine, effect } = rule;
  if (!isInForce(rule, context)) return false;
  if (exact !== undefined) return isExactly(exact, subject) && !subject.labelOnly;
  if (operation === "*") return true;
  if (operation !== subject.operation) return false;
  const isAllowing = effect === "allow";
  if (operation === "exec" && pattern === everyLine) return true;
  // a label is what an agent calls it; only a person may take its word for it
  if (isAllowing && subject.labelOnly) return false;
  const { path, host, tool } = subject;
  switch (operation) {
    case "read":
    case "write":
      // what forbids everything does so outside of the roots, too
      if (rule.pattern === undefined && !isAllowing) return true;
      return path !== undefined && pathMatcherIn(context, pattern, isAllowing)(path);
    case "exec":
      return (isAllowing ? allowsCommand : forbidsCommand)(pattern, subject, context.roots);
    case "net":
      // what listens on this machine trusts whoever connects: it is allowed by its name only
      if (isAllowing && host !== undefined && isThisMachine(host)) return pattern === thisMachine;
      if (isEverything(pattern)) return true;
      return host !== undefined && hostNames(host).some((name) => matchesHost(pattern, name, !isAllowing));
    case "mcp":
      return isEverything(pattern) || (tool !== undefined && matchesTool(pattern, tool));
    default:
      return false;
  }
}

export function isInForce(rule: Rule, { now, identity }: MatchContext): boolean {
  if (rule.expires !== undefined && rule.expires <= now) return false;
  return rule.workspace === undefined || rule.workspace.identity === identity;
}

/** All that was shown, and nothing more. The shell that reads a line is a detail. */
/**
 * Whether a subject is exactly what an answer was about.
 *
 * @example
 * import { commandSubject, isExactly } from "@parley/client/policy";
 *
 * const subject = commandSubject("op", "npm", ["test"], "/home/me/project");
 * console.log(isExactly({ operation: "exec", argv: ["npm", "test"], cwd: "/home/me/project" }, subject));
 */
export function isExactly(exact: ExactTarget, subject: RuleSubject): boolean {
  const [shown, given] = [exact, subject].map((each) => {
    const { operation, path, deletes = false, argv, shellLine = argv, cwd, host, tool, mode } = each;
    const { server, name, definition } = tool ?? {};
    return JSON.stringify([operation, path, deletes, shellLine, cwd, host, server, name, definition, mode]);
  });
  return shown === given && areSameVariables(exact.env, subject.env);
}

function isEverything(pattern: string): boolean {
  return pattern === everyLine || pattern === "*";
}

function matchesTool(pattern: string, { server, name }: NonNullable<RuleSubject["tool"]>): boolean {
  return pattern === `${server}/${name}` || pattern === `${server}/*`;
}
