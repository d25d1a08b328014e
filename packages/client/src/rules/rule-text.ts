// Parses and prints one rule, such as `read src/**` or `exec npm test`.

import { optional } from "@parley/acp/internal";
import { joinVariables } from "../subjects/command-words.ts";
import type { Effect } from "../subjects/subject.ts";
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

export interface RuleContext {
  readonly effect: Effect;
  readonly origin: RuleOrigin;
  readonly source?: string;
}

/** Throws RuleError. */
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

function checkPattern(operation: RuleOperation, pattern: string, effect: Effect): void {
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

/** What `parseRule` reads; of an answer what was shown, for people. */
export function ruleText({ operation, pattern, exact }: RuleTarget): string {
  if (exact === undefined) return `${operation}${pattern === undefined ? "" : ` ${pattern}`}`;
  const { deletes, cwd, env = {} } = exact;
  const command = commandText(exact);
  if (command !== undefined) return `exec (${cwd ?? "anywhere"}) ${joinVariables(env)}${command}`;
  return `${deletes ? "delete" : operation} ${targetText(exact)}`.trim();
}
