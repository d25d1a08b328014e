// Parses and prints one rule, such as `read src/**` or `exec npm test`.

import { optional } from "@parley/acp/jsonrpc";
import { joinVariables } from "../subjects/command-words.ts";
import type { RuleEffect } from "../subjects/subject.ts";
import { commandText, targetText } from "../subjects/summary.ts";
import { commandPattern, everyLine } from "./command-pattern.ts";
import { checkHostPattern } from "./host-pattern.ts";
import { PatternError } from "./name-pattern.ts";
import { pathPattern } from "./path-pattern.ts";
import { type Rule, RuleError, type RuleOperation, type RuleOrigin, type RuleTarget } from "./rule.ts";

export const ruleOperations: readonly RuleOperation[] = ["read", "write", "exec", "net", "mcp", "*"];

/** Words that people try, and what is meant by them. */
const nearWords = new Map([
  ["delete", "deleting counts as writing; use write"],
  ["network", "the operation is called net; use net"],
  ["mode", "there are no rules for modes; use *, which applies to everything"],
]);

/** What the text of a rule does not say. */
export interface RuleContext {
  /** The answer of the rule. */
  readonly effect: RuleEffect;
  /** Who made it. */
  readonly origin: RuleOrigin;
  /** The file that it is in. */
  readonly source?: string;
}

/**
 * Parses one rule, such as `read src/**` or `exec npm test`.
 *
 * @throws {RuleError} When it cannot be understood.
 *
 * @example
 * import { parseRule } from "@parley/client/policy";
 *
 * console.log(parseRule("exec npm test", { effect: "allow", origin: "user" }).pattern);
 */
export function parseRule(text: string, { effect, origin, source }: RuleContext): Rule {
  const trimmed = text.trim();
  const [, operation = "", pattern] = /^(\S+)(?:\s+([\s\S]+))?$/.exec(trimmed) ?? [];
  const shown = JSON.stringify(trimmed.slice(0, 100));
  if (!isOperation(operation)) throw new RuleError(unknownOperation(operation, shown));
  try {
    if (pattern !== undefined && pattern !== everyLine) checkPattern(operation, pattern, effect);
  } catch (error) {
    throw error instanceof PatternError ? new RuleError(`${shown}: ${error.message}`) : error;
  }
  return { operation, ...optional({ pattern }), effect, origin, ...optional({ source }) };
}

function isOperation(word: string): word is RuleOperation {
  return ruleOperations.some((operation) => operation === word);
}

function unknownOperation(word: string, shown: string): string {
  const near = nearWords.get(word);
  if (near !== undefined) return `${shown}: ${near}`;
  const example = 'such as "read src/**" or "exec npm test"';
  return `expected a rule that starts with one of ${ruleOperations.join(", ")}, ${example}; got ${shown}`;
}

function checkPattern(operation: RuleOperation, pattern: string, effect: RuleEffect): void {
  switch (operation) {
    case "*":
      throw new PatternError(
        "* applies to everything and takes no pattern; write one rule for each operation",
      );
    case "exec":
      commandPattern(pattern);
      return;
    case "net":
      checkHostPattern(pattern, effect);
      return;
    case "mcp":
      if (/^(?:\*|[^/\s*]+\/(?:\*|[^/\s*]+))$/.test(pattern)) return;
      throw new PatternError("expected SERVER/TOOL, or SERVER/* for all tools of a server");
    default:
      pathPattern(pattern);
  }
}

/**
 * Returns the text that `parseRule` reads. For a remembered answer it is the target that the user was shown.
 *
 * @example
 * import { parseRule, ruleText } from "@parley/client/policy";
 *
 * console.log(ruleText(parseRule("net example.com", { effect: "deny", origin: "user" })));
 */
export function ruleText({ operation, pattern, exact }: RuleTarget): string {
  if (exact === undefined) return `${operation}${pattern === undefined ? "" : ` ${pattern}`}`;
  const { deletes, cwd, env = {} } = exact;
  const command = commandText(exact);
  if (command !== undefined) return `exec (${cwd ?? "anywhere"}) ${joinVariables(env)}${command}`;
  return `${deletes ? "delete" : operation} ${targetText(exact)}`.trim();
}
