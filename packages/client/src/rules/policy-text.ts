// Parses a file of rules.

import type { RuleEffect } from "../subjects/subject.ts";
import { type Rule, RuleError, type RuleOrigin } from "./rule.ts";
import { parseRule } from "./rule-text.ts";

/** The rules of a policy file. */
export interface ParsedPolicy {
  /** The rules, in the order of the file. */
  readonly rules: readonly Rule[];
  /** What was left out of a workspace's file, and why, one line each. */
  readonly warnings: readonly string[];
}

/** A repository brings its file; it must not be able to keep us busy. */
const maxRules = 1_000;

/**
 * Parses a file of rules, one a line. Of a workspace's file, lines that allow something or cannot be understood are left
 * out with a warning.
 *
 * @param source - The name of the file, for messages.
 * @throws {RuleError} When a line of another file than a workspace's cannot be understood.
 *
 * @example
 * import { parsePolicy } from "@parley/client/policy";
 *
 * const { rules } = parsePolicy("allow read src/**\ndeny net *", "user", "/home/me/policy");
 * console.log(rules.length);
 */
export function parsePolicy(text: string, origin: RuleOrigin, source: string): ParsedPolicy {
  const rules: Rule[] = [];
  const problems: string[] = [];
  for (const [at, line] of text.split(/\r\n?|[\n\u2028\u2029]/).entries()) {
    const [, effect = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
    if (effect === "" || effect.startsWith("#")) continue;
    const where = `${source}:${at + 1}`;
    if (rules.length >= maxRules) {
      problems.push(`${where}: a policy file can have at most ${maxRules} rules`);
      break;
    }
    const parsed = parseLine(effect, rest, origin, where);
    if (typeof parsed === "string") problems.push(`${where}: ${parsed}`);
    else rules.push(parsed);
  }
  if (problems.length > 0 && origin !== "workspace") throw new RuleError(problems.join("\n"));
  return { rules, warnings: problems };
}

function parseLine(effect: string, text: string, origin: RuleOrigin, source: string): Rule | string {
  if (!isEffect(effect))
    return `expected a line that starts with allow, ask or deny; got ${JSON.stringify(effect.slice(0, 50))}`;
  if (effect === "allow" && origin === "workspace")
    return "a workspace can only deny and ask; its allow rules are ignored";
  try {
    return parseRule(text, { effect, origin, source });
  } catch (error) {
    if (error instanceof RuleError) return error.message;
    throw error;
  }
}

function isEffect(word: string): word is RuleEffect {
  return word === "allow" || word === "ask" || word === "deny";
}
