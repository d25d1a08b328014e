// Decides by the rules: deny over ask over allow, then the defaults.

import { sep } from "node:path";
import { RequestError } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { passesCode } from "../subjects/evaluated-text.ts";
import { commandsOf, hasUnknownProgram } from "../subjects/inner-commands.ts";
import { shownLine } from "../subjects/shown-text.ts";
import { isFileOperation, type RuleEffect, type RuleSubject } from "../subjects/subject.ts";
import { pathsInCommand } from "./command-paths.ts";
import { everyLine, mayForbidCommand } from "./command-pattern.ts";
import { closesThisMachine, isThisMachine } from "./host-pattern.ts";
import { isInForce, type MatchContext, matches, pathMatcherIn } from "./match.ts";
import type { PathMatcher } from "./path-pattern.ts";
import type { Rule, RuleOrigin } from "./rule.ts";
import { ruleText } from "./rule-text.ts";

/** What the rules say about an operation. */
export interface Verdict {
  /** The effect of the strictest rule that applies, or of the default. */
  readonly effect: RuleEffect;
  /** The rule that fired; absent where a default did. */
  readonly rule?: Rule;
  /** In words. */
  readonly reason: string;
  /** Asked every time: no answer to it is remembered, and none that was is used. */
  readonly always?: boolean;
  /** The reason is that of every protected path. An agent of ours may say more about this one. */
  readonly isGeneral?: boolean;
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

export function decideByRules(subject: RuleSubject, circumstances: Circumstances): Verdict {
  const own = ownVerdict(subject, circumstances);
  if (own !== undefined) return own;
  const looked = namedPaths(subject, circumstances);
  if (typeof looked === "string") return { effect: "deny", reason: looked };
  const named = looked ?? [];
  const by = (effect: RuleEffect): Verdict | undefined => {
    const order = effect === "allow" ? allowing : forbidding;
    const ordered = circumstances.rules
      .filter((rule) => rule.effect === effect && order.includes(rule.origin))
      .sort((one, other) => order.indexOf(one.origin) - order.indexOf(other.origin));
    for (const rule of ordered) {
      const isMatch = matches(rule, subject, circumstances);
      const path = isMatch || effect === "allow" ? undefined : named.find(matcherOf(rule, circumstances));
      if (!isMatch && path === undefined) continue;
      const naming = path === undefined ? "" : `${namingOf(path, subject)}: `;
      const reason = `${naming}${describeRule(rule)}`;
      return effect === "ask" ? alwaysAsked(reason, rule) : { effect, rule, reason };
    }
    return undefined;
  };
  return (
    by("deny") ??
    closedVerdict(subject, circumstances) ??
    (subject.leaves ? alwaysAsked(leaving) : undefined) ??
    protectedVerdict(subject, named, circumstances) ??
    unreadableVerdict(subject, looked === undefined, circumstances) ??
    by("ask") ??
    by("allow") ??
    byDefault(subject, circumstances)
  );
}

/** The directory that a command runs in, and the files that it names. Undefined: too many. A text says why it must not run. */
function namedPaths(subject: RuleSubject, { roots }: Circumstances): readonly string[] | string | undefined {
  if (subject.operation !== "exec") return [];
  const { cwd } = subject;
  try {
    const words = pathsInCommand(subject, roots[0] ?? "/");
    return cwd === undefined || words === undefined ? words : [cwd, ...words];
  } catch (error) {
    if (error instanceof RequestError) return error.message;
    throw error;
  }
}

/** A command that names a file which may not be read or written would get around the rule for that file. */
function matcherOf(rule: Rule, circumstances: Circumstances): PathMatcher {
  const { operation, pattern = everyLine, exact } = rule;
  if (!isFileOperation(operation) || !isInForce(rule, circumstances)) return () => false;
  if (exact !== undefined) return (path) => path === exact.path;
  return pathMatcherIn(circumstances, pattern, false);
}

/** Commands cannot reach this machine, whatever allows it. */
function closedVerdict({ origin, host }: RuleSubject, circumstances: Circumstances): Verdict | undefined {
  if (origin !== "op" || host === undefined || !isThisMachine(host)) return undefined;
  const rule = circumstances.rules.find((each) => closesThisMachine(each) && isInForce(each, circumstances));
  if (rule === undefined) return undefined;
  const why =
    "the network of this machine cannot be limited, so a rule about hosts keeps it closed to commands";
  return { effect: "deny", rule, reason: `${why}: ${describeRule(rule)}` };
}

const leaving =
  "this command leaves the sandbox and runs with all your rights; what it has already done may be done twice";

/** Whatever was allowed before. */
function alwaysAsked(reason: string, rule?: Rule): Verdict {
  return { effect: "ask", reason, always: true, ...optional({ rule }) };
}

function protectedVerdict(
  subject: RuleSubject,
  named: readonly string[],
  circumstances: Circumstances,
): Verdict | undefined {
  const { path, operation } = subject;
  const access = operation === "read" ? "read" : "write";
  if (path !== undefined && circumstances.isProtected(path, access))
    return { ...alwaysAsked(`${path} ${whyProtected[access]}`), isGeneral: true };
  const { roots } = circumstances;
  // the session's own directories were chosen by the user
  const found = named.find((each) => !roots.includes(each) && circumstances.isProtected(each, "write"));
  // a sandbox holds what protected paths forbid a command
  if (found === undefined || subject.sandbox !== undefined) return undefined;
  return alwaysAsked(`${namingOf(found, subject)}, which is protected`);
}

const whyProtected = {
  read: "may hold secrets",
  write: "is protected, because other programs run or obey it",
};

function namingOf(path: string, { cwd }: RuleSubject): string {
  return `the command ${path === cwd ? "runs in" : "names"} ${path}`;
}

/** What cannot be taken apart may have in it what a rule forbids, or the name of a protected file. */
function unreadableVerdict(
  subject: RuleSubject,
  hasCountlessNames: boolean,
  circumstances: Circumstances,
): Verdict | undefined {
  if (subject.operation !== "exec") return undefined;
  const commands = commandsOf(subject);
  const isUnknown = commands === undefined || commands.some(hasUnknownProgram) || passesCode(commands);
  const mayBe = ({ operation, pattern }: Rule): boolean => {
    if (isFileOperation(operation)) return hasCountlessNames;
    if (operation !== "exec") return false;
    return (
      isUnknown || (pattern !== undefined && pattern !== everyLine && mayForbidCommand(pattern, subject))
    );
  };
  const rule = circumstances.rules.find(
    (each) =>
      each.effect !== "allow" && each.exact === undefined && isInForce(each, circumstances) && mayBe(each),
  );
  const why = hasCountlessNames
    ? "the command line cannot be parsed"
    : "the command is known only when the line runs";
  if (rule !== undefined) return alwaysAsked(`${why}: ${describeRule(rule)}`, rule);
  const isHeld = !hasCountlessNames || subject.sandbox !== undefined;
  return isHeld ? undefined : alwaysAsked(why);
}

function byDefault(subject: RuleSubject, circumstances: Circumstances): Verdict {
  const { origin, operation, path, host, cwd, sandbox, unread = [] } = subject;
  const ask = (reason: string): Verdict => ({ effect: "ask", reason });
  if (unread.length > 0) return ask(unreadReason(unread));
  if (operation === "exec" && sandbox !== undefined) {
    const wide = wideRootOf(cwd, circumstances);
    if (wide === undefined) return { effect: "allow", reason: "commands in the sandbox are allowed" };
    return ask(`the workspace ${wide} is too broad to run commands without asking`);
  }
  if (host !== undefined && isThisMachine(host))
    return ask(
      `${host} is this machine, and its services may trust any local program; if your answer is remembered, it gives commands the whole network of this machine`,
    );
  if (origin === "claim" || operation !== "read") return ask(unruled(subject));
  const wide = wideRootOf(path, circumstances);
  if (wide === undefined) return { effect: "allow", reason: "reading in the workspace is allowed" };
  return ask(`the workspace ${wide} is too broad to read without asking`);
}

/** What no rule decides. */
function unruled({ origin, operation, path, deletes, labelOnly }: RuleSubject): string {
  const isOurs = origin === "op";
  if (labelOnly && path !== undefined)
    return "the agent says which file, but not what it does there, and no rule allows that";
  if (labelOnly && operation !== "other") {
    const allows = operation === "exec" ? "only the rule exec ** can allow it" : "no rule can allow it";
    return `only the agent's title says what this is, so ${allows}`;
  }
  switch (operation) {
    case "read":
      return "no rule allows this read yet";
    case "write":
      return `no rule allows this ${deletes ? "deletion" : "change"} yet`;
    case "exec":
      return isOurs
        ? "this command would run without a sandbox, and no rule allows it yet"
        : "no rule allows this command yet";
    case "net":
      return `${isOurs ? "a command in the sandbox wants the network, and " : ""}no rule allows this host yet`;
    case "mcp":
      return "no rule allows this tool yet";
    case "mode":
      return "the agent asks before it changes its mode";
    case "other":
      return "the agent does not say what it will do";
  }
}

/** The names are the agent's. */
function unreadReason(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => JSON.stringify(shownLine(name, 60)));
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return `the agent's input has fields that Parley does not know: ${shown.join(", ")}${more}`;
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

function ownVerdict({ operation, path }: RuleSubject, { own }: Circumstances): Verdict | undefined {
  if (path === undefined || operation !== "write") return undefined;
  const folder = own.find((each) => isBelow(path, each));
  if (folder === undefined) return undefined;
  return {
    effect: "deny",
    reason: `${folder} holds the rules and keys of Parley, which agents cannot write`,
  };
}

/** Of several things at once: the strictest, and the first that is. */
export function strictest(verdicts: readonly Verdict[]): Verdict | undefined {
  const by = (effect: RuleEffect) => verdicts.find((verdict) => verdict.effect === effect);
  const asking = verdicts.find((verdict) => verdict.effect === "ask" && verdict.always);
  return by("deny") ?? asking ?? by("ask") ?? by("allow");
}

/** Which rule, and whose. */
/**
 * Names a rule and where it is from, in one line.
 *
 * @example
 * import { describeRule, parseRule } from "@parley/client/policy";
 *
 * console.log(describeRule(parseRule("read src/**", { effect: "allow", origin: "user" })));
 */
export function describeRule(rule: Rule): string {
  const where = rule.id === undefined ? (rule.source ?? whose[rule.origin]) : `remembered as ${rule.id}`;
  return `${rule.effect} ${ruleText(rule)} (${where})`;
}

const whose: Readonly<Record<RuleOrigin, string>> = {
  operator: "policy of this machine",
  user: "your policy",
  workspace: "policy of the workspace",
  launch: "for this run",
  remembered: "your answer",
};
