// Parses and prints one rule, such as `read src/**` or `exec npm test`.

import { optional } from "@parley/acp/internal";
import { joinVariables, joinWords } from "../subjects/command-words.ts";
import type { Effect } from "../subjects/subject.ts";
import { commandPattern, everyLine } from "./command-pattern.ts";
import { checkHostPattern } from "./host-pattern.ts";
import { PatternError } from "./name-pattern.ts";
import { pathPattern } from "./path-pattern.ts";
import { type Rule, RuleError, type RuleOperation, type RuleOrigin, type RuleTarget } from "./rule.ts";

export const ruleOperations: readonly RuleOperation[] = ["read", "write", "exec", "net", "mcp", "*"];

/** Words of earlier versions, and what is meant by them now. */
const oldWords: Readonly<Record<string, string>> = {
  delete: "deleting counts as writing; use write",
  network: "the operation is called net; use net",
  mode: "there are no rules for modes; use *, which applies to everything",
  other: "there are no rules for other operations; use *, which applies to everything",
};

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
  const [, rest] = /^(?:op|claim|any):(.*)$/.exec(word) ?? [];
  if (rest !== undefined)
    return `${shown}: rules have no prefix; a rule applies to what Parley does and to what agents say they do; write ${rest || "exec"}`;
  const old = Object.hasOwn(oldWords, word) ? oldWords[word] : undefined;
  if (old !== undefined) return `${shown}: ${old}`;
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
  const { path, deletes, argv, shellLine, cwd, env = {}, host, tool, mode } = exact;
  const command = shellLine ?? (argv === undefined ? undefined : joinWords(argv));
  if (command !== undefined) return `exec (${cwd ?? "anywhere"}) ${joinVariables(env)}${command}`;
  const target = path ?? host ?? (tool === undefined ? mode : `${tool.server}/${tool.name}`);
  return `${deletes ? "delete" : operation} ${target ?? ""}`.trim();
}
