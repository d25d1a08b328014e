// Decides by the rules: deny over ask over allow, then the defaults.

import { sep } from "node:path";
import { shownLine } from "../subjects/shown-text.ts";
import { steeringVariables } from "../subjects/steering-variables.ts";
import { type Effect, isFileOperation, type Subject } from "../subjects/subject.ts";
import { onlyReads, pathsInCommand } from "./command-paths.ts";
import { type MatchContext, matches, tooMuchFor } from "./match.ts";
import type { Rule, RuleOrigin } from "./rule.ts";
import { ruleText } from "./rule-text.ts";

export interface Verdict {
  readonly effect: Effect;
  /** The rule that fired; absent where a default did. */
  readonly rule?: Rule;
  /** In words. */
  readonly reason: string;
  /** Asked every time: no answer to it is remembered, and none that was is used. */
  readonly always?: boolean;
}

export interface Circumstances extends MatchContext {
  readonly rules: readonly Rule[];
  /** Where rules and answers are kept: never written for an agent. */
  readonly own: readonly string[];
  /** Whether a path is asked about whatever was allowed. */
  isProtected(path: string, access: "read" | "write"): boolean;
  /** The roots that are so wide that being below one says nothing. */
  readonly wide: readonly string[];
}

const forbidding: readonly RuleOrigin[] = ["operator", "user", "launch", "remembered", "workspace"];
/** The narrowest is named. A repository is not among them: it must not be able to give itself rights. */
const allowing: readonly RuleOrigin[] = ["remembered", "launch", "user", "operator"];

export function decide(subject: Subject, circumstances: Circumstances): Verdict {
  const { rules } = circumstances;
  const own = ownVerdict(subject, circumstances);
  if (own !== undefined) return own;
  const fitting = rules.filter((rule) => matches(rule, subject, circumstances));
  const first = (effect: Effect, order: readonly RuleOrigin[]) =>
    fitting
      .filter((rule) => rule.effect === effect && order.includes(rule.origin))
      .sort((one, other) => order.indexOf(one.origin) - order.indexOf(other.origin))[0];
  const denying = first("deny", forbidding);
  if (denying !== undefined) return { effect: "deny", rule: denying, reason: describeRule(denying) };
  const steering = steeringVariables(subject.env ?? []);
  if (steering.length > 0) {
    const more = steering.length > 5 ? ` and ${steering.length - 5} more` : "";
    const reason = `${steering.slice(0, 5).join(", ")}${more} can make the command do something else`;
    return { effect: "ask", reason, always: true };
  }
  const access = subject.operation === "read" ? "read" : "write";
  if (subject.path !== undefined && circumstances.isProtected(subject.path, access)) {
    return { effect: "ask", reason: `${subject.path} is protected`, always: true };
  }
  const named = namedInCommand(subject, circumstances);
  if (named !== undefined) return named;
  const asking = first("ask", forbidding);
  if (asking !== undefined)
    return { effect: "ask", rule: asking, reason: describeRule(asking), always: true };
  const permitting = first("allow", allowing);
  if (permitting !== undefined)
    return { effect: "allow", rule: permitting, reason: describeRule(permitting) };
  return byDefault(subject, circumstances);
}

/** A command that names a file which may not be read or written would get around the rule for that file. */
function namedInCommand(subject: Subject, circumstances: Circumstances): Verdict | undefined {
  if (subject.operation !== "exec") return undefined;
  const forbidden = circumstances.rules.filter(({ effect }) => effect === "deny");
  const paths = pathsInCommand(subject, circumstances.roots[0] ?? "/");
  if (paths === undefined)
    return { effect: "ask", reason: "the command has more words than can be looked at", always: true };
  const access = onlyReads(subject) ? "read" : "write";
  for (const path of paths) {
    const rule = forbidden.find(
      (each) =>
        isFileOperation(each.operation) &&
        matches(each, { origin: subject.origin, operation: each.operation, path }, circumstances),
    );
    if (rule !== undefined) {
      return {
        effect: "ask",
        rule,
        reason: `the command names ${path}: ${describeRule(rule)}`,
        always: true,
      };
    }
    if (circumstances.isProtected(path, access)) {
      return { effect: "ask", reason: `the command names ${path}, which is protected`, always: true };
    }
  }
  return undefined;
}

function byDefault(subject: Subject, circumstances: Circumstances): Verdict {
  if (subject.unread !== undefined && subject.unread.length > 0)
    return { effect: "ask", reason: unreadReason(subject.unread) };
  const { rules } = circumstances;
  for (const rule of rules) {
    const word = rule.origin === "workspace" ? undefined : tooMuchFor(rule, subject, circumstances);
    if (word !== undefined)
      return { effect: "ask", reason: `${describeRule(rule)}: its star does not stand for ${word}` };
  }
  if (subject.origin === "claim")
    return { effect: "ask", reason: "no rule allows the agent to do it by itself" };
  const wide = subject.operation === "read" ? wideRootOf(subject.path, circumstances) : undefined;
  if (wide !== undefined)
    return { effect: "ask", reason: `${wide} is too wide a workspace for reading without asking` };
  if (subject.operation === "read") return { effect: "allow", reason: "reading in the workspace is allowed" };
  return { effect: "ask", reason: "no rule is about it" };
}

/** The names are the agent's. */
function unreadReason(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => JSON.stringify(shownLine(name, 60)));
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return `the agent's input is not fully understood: ${shown.join(", ")}${more}`;
}

/** Nothing where it is below a root that is not so wide. */
function wideRootOf(path: string | undefined, { roots, wide }: Circumstances): string | undefined {
  const below = roots.filter((root) => path === undefined || isBelow(path, root));
  return below.some((root) => !wide.includes(root)) ? undefined : (below[0] ?? wide[0]);
}

function isBelow(path: string, folder: string): boolean {
  const beginning = /[\\/]$/.test(folder) ? folder : `${folder}${sep}`;
  return path === folder || path.startsWith(beginning);
}

function ownVerdict({ operation, path }: Subject, { own }: Circumstances): Verdict | undefined {
  if (path === undefined || (operation !== "write" && operation !== "delete")) return undefined;
  const folder = own.find((each) => isBelow(path, each));
  if (folder === undefined) return undefined;
  return { effect: "deny", reason: `${folder} holds the rules and keys of Parley itself` };
}

/** Of several things at once: the strictest, and the first that is. */
export function strictest(verdicts: readonly Verdict[]): Verdict | undefined {
  const by = (effect: Effect) => verdicts.find((verdict) => verdict.effect === effect);
  const asking = verdicts.find((verdict) => verdict.effect === "ask" && verdict.always);
  return by("deny") ?? asking ?? by("ask") ?? by("allow");
}

/** Which rule, and whose. */
export function describeRule(rule: Rule): string {
  const where = rule.id === undefined ? (rule.source ?? whose[rule.origin]) : `remembered as ${rule.id}`;
  return `${rule.effect} ${ruleText(rule)} (${where})`;
}

const whose: Readonly<Record<RuleOrigin, string>> = {
  operator: "set by the operator",
  user: "your policy",
  workspace: "the workspace's policy",
  launch: "given for this run",
  remembered: "your answer",
};
