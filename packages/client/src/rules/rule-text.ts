// Parses and prints one rule, such as `read src/**` or `exec npm test`.

import { optional } from "@parley/acp/internal";
import { splitWords } from "../subjects/command-words.ts";
import { type Effect, type Operation, operations } from "../subjects/subject.ts";
import { type Rule, RuleError, type RuleOrigin, type RuleTarget } from "./rule.ts";

const ruleOperations: readonly (Operation | "*")[] = [...operations, "*"];

export interface RuleContext {
  readonly effect: Effect;
  readonly origin: RuleOrigin;
  readonly source?: string;
}

/**
 * Throws RuleError. Without `op:`, `claim:` or `any:` a rule that forbids or has asked is about both; one that allows
 * is about what we do ourselves, unless it was typed for this run.
 */
export function parseRule(text: string, { effect, origin, source }: RuleContext): Rule {
  const target = parseTarget(text, effect !== "allow" || origin === "launch" ? "any" : "op");
  return { ...target, effect, origin, ...optional({ source }) };
}

function parseTarget(text: string, of: RuleTarget["of"]): RuleTarget {
  const trimmed = text.trim();
  const [, prefix, operation = "", rest = ""] =
    /^(?:(op|claim|any):)?(\S+)(?:\s+([\s\S]+))?$/.exec(trimmed) ?? [];
  if (!isOperation(operation)) {
    const example = 'such as "read src/**", "exec npm test" or "claim:write docs"';
    const got = JSON.stringify(trimmed.slice(0, 100));
    throw new RuleError(`a rule begins with ${ruleOperations.join(", ")}, ${example}; got ${got}`);
  }
  const target: RuleTarget = {
    of: (prefix as RuleTarget["of"] | undefined) ?? of, // the expression has no other words
    operation,
    ...(rest === "" ? {} : { pattern: rest }),
  };
  checkPattern(target, trimmed);
  return target;
}

function isOperation(word: string): word is Operation | "*" {
  return ruleOperations.some((operation) => operation === word);
}

function checkPattern({ operation, pattern }: RuleTarget, text: string): void {
  if (pattern === undefined) return;
  const fail = (wanted: string): never => {
    throw new RuleError(`${JSON.stringify(text.slice(0, 100))}: ${wanted}`);
  };
  switch (operation) {
    case "*":
    case "other":
      return fail(`${operation} takes no pattern`);
    case "exec": {
      const words = splitWords(pattern);
      if (words === undefined) return fail("a quote or a backslash has no end");
      return words[0]?.includes("*") && words.length > 1
        ? fail("name the program; * stands for further words at the end, or for every command")
        : undefined;
    }
    case "network":
      return /^(?:\*|(?:\*\.)?[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(pattern)
        ? undefined
        : fail("a host is example.org, *.example.org or example.org:443, without a scheme or a path");
    case "mcp":
      return /^(?:\*|[^/\s]+\/[^/\s]+)$/.test(pattern)
        ? undefined
        : fail("a tool is server/tool or server/*");
    default:
      return pattern.includes("\0") ? fail("a path has no NUL") : undefined;
  }
}

/** What `parseRule` reads, with its prefix always written out. */
export function ruleText({ of, operation, pattern }: RuleTarget): string {
  return `${of}:${operation}${pattern === undefined ? "" : ` ${pattern}`}`;
}
