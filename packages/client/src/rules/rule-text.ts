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
  delete: "deleting is writing; write write",
  network: "it is called net; write net",
  mode: "there are no rules for modes alone; * is about everything",
  other: "there are no rules for it alone; * is about everything",
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
    if (pattern !== undefined && pattern !== everyLine) checkPattern(operation, pattern);
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
    return `${shown}: rules have no prefix any more and are about what Parley does and what agents say they do; write ${rest || "exec"}`;
  const old = Object.hasOwn(oldWords, word) ? oldWords[word] : undefined;
  if (old !== undefined) return `${shown}: ${old}`;
  const example = 'such as "read src/**" or "exec npm test"';
  return `a rule begins with ${ruleOperations.join(", ")}, ${example}; got ${shown}`;
}

function checkPattern(operation: RuleOperation, pattern: string): void {
  switch (operation) {
    case "*":
      throw new PatternError("* is about everything and takes no pattern; write one rule for each operation");
    case "exec":
      commandPattern(pattern);
      return;
    case "net":
      checkHostPattern(pattern);
      return;
    case "mcp":
      if (/^(?:\*|[^/\s*]+\/(?:\*|[^/\s*]+))$/.test(pattern)) return;
      throw new PatternError("a tool is SERVER/TOOL; write SERVER/* for all tools of a server");
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
