// The scopes that an answer may have, and the rule that remembers it.

import { resolve } from "node:path";
import { optional } from "@parley/acp/internal";
import { joinWords } from "../subjects/command-words.ts";
import type { Scope, Subject } from "../subjects/subject.ts";
import type { Verdict } from "./decide.ts";
import { everyLine, isBelowRoots, lineText } from "./match.ts";
import type { RuleTarget } from "./rule.ts";
import { parseRule, ruleText } from "./rule-text.ts";

/** Narrowest first. `once` is always among them. */
export function scopesFor(subjects: readonly Subject[], verdict: Verdict): readonly Scope[] {
  if (verdict.always) return ["once"];
  const all: readonly Scope[] = ["once", "session", "workspace", "always"];
  return all.filter((scope) => subjects.every((subject) => reachOf(subject).includes(scope)));
}

function reachOf(subject: Subject): readonly Scope[] {
  const target = targetOf(subject);
  if (target === undefined || subject.labelOnly) return ["once"];
  if (!canBeWritten(target)) return ["once", "session"];
  switch (subject.operation) {
    // what changes nothing, and what is exactly this command
    case "read":
      return ["once", "session", "workspace", "always"];
    case "exec":
      return subject.shellLine === undefined
        ? ["once", "session", "workspace", "always"]
        : ["once", "session"];
    case "write":
    case "delete":
    case "network":
    case "mcp":
      return ["once", "session", "workspace"];
    default:
      return ["once", "session"];
  }
}

/** What is kept in a file must be read again. */
function canBeWritten(target: RuleTarget): boolean {
  try {
    const read = parseRule(ruleText(target), { effect: "allow", origin: "remembered" });
    return read.pattern === target.pattern;
  } catch {
    return false;
  }
}

/** The narrowest rule that allows this, as people write it. Undefined where none can. */
export function ruleFor(subject: Subject, roots: readonly string[]): string | undefined {
  const target = targetOf(fromAnywhere(subject));
  if (target === undefined || subject.labelOnly) return undefined;
  const of = subject.origin === "claim" ? "any:" : "";
  // no rule with words is for a whole shell line
  if (subject.shellLine !== undefined) return `${of}exec ${everyLine}`;
  // nor is one for a directory that is not the session's
  if (!canBeWritten(target) || !isBelowRoots(subject.cwd, { roots })) return undefined;
  return `${of}${target.operation} ${target.pattern}`;
}

/** A program that is named by its place has the same one wherever the command runs. */
function fromAnywhere(subject: Subject): Subject {
  const { argv: [program = "", ...words] = [], cwd } = subject;
  if (cwd === undefined || !/[\\/]/.test(program)) return subject;
  return { ...subject, argv: [resolve(cwd, program), ...words] };
}

/** The rule that is about exactly this. Undefined where none can say it. */
export function targetOf(subject: Subject): (RuleTarget & { readonly cwd?: string }) | undefined {
  const { origin: of, operation, path, argv, shellLine, cwd, host, tool, mode } = subject;
  switch (operation) {
    case "read":
    case "write":
    case "delete":
      // it would mean others too
      return path === undefined || /[*?]/.test(path) ? undefined : { of, operation, pattern: path };
    case "exec": {
      const where = optional({ cwd });
      if (shellLine !== undefined) return { of, operation, pattern: lineText(shellLine), ...where };
      return argv === undefined ? undefined : { of, operation, pattern: joinWords(argv), ...where };
    }
    case "network":
      return host === undefined ? undefined : { of, operation, pattern: host };
    case "mcp":
      return tool === undefined || /[/\s*]/.test(tool.server + tool.name)
        ? undefined
        : { of, operation, pattern: `${tool.server}/${tool.name}` };
    case "mode":
      return mode === undefined ? undefined : { of, operation, pattern: mode };
    case "other":
      return undefined;
  }
}
