// Matches rules against subjects.

import { join, resolve } from "node:path";
import { splitWords } from "../subjects/command-words.ts";
import { commandsOf } from "../subjects/inner-commands.ts";
import { programName } from "../subjects/runners.ts";
import type { Subject } from "../subjects/subject.ts";
import { matchesPath } from "./path-pattern.ts";
import type { Rule } from "./rule.ts";
import { beyondStar } from "./star-reach.ts";

/** Where it is about to happen. */
export interface MatchContext {
  readonly sessionId: string;
  /** The directories of the session, canonical; the working directory first. */
  readonly roots: readonly string[];
  /** Which directory the first root is, whatever its name. */
  readonly identity: string;
  readonly now: number;
}

export function matches(rule: Rule, subject: Subject, context: MatchContext): boolean {
  if (rule.of !== "any" && rule.of !== subject.origin) return false;
  if (!isAbout(rule, subject)) return false;
  if (!isInForce(rule, context)) return false;
  // a label is what an agent calls it; only a person may take its word for it, or who allows everything
  if (rule.effect === "allow" && subject.labelOnly && !allowsAll(rule)) return false;
  const { pattern } = rule;
  if (pattern === undefined) return rule.effect !== "allow" || rule.operation !== "exec" || !isShell(subject);
  switch (rule.operation) {
    case "read":
    case "write":
    case "delete":
      return (
        subject.path !== undefined &&
        matchesPath(pattern, subject.path, context.roots, rule.effect === "allow")
      );
    case "exec":
      return matchesCommand(rule, pattern, subject, context);
    case "network":
      return subject.host !== undefined && matchesHost(pattern, subject.host, rule.effect !== "allow");
    case "mcp":
      return (
        subject.tool !== undefined && matchesTool(pattern, `${subject.tool.server}/${subject.tool.name}`)
      );
    case "mode":
      return pattern === "*" || pattern === subject.mode;
    default:
      return false;
  }
}

function allowsAll({ operation, pattern }: Rule): boolean {
  return operation === "*" || (operation === "exec" && pattern === everyLine);
}

/** Who may not change a file may not delete it either; who may change it may not, for that. */
function isAbout({ effect, operation }: Rule, subject: Subject): boolean {
  if (operation === "*" || operation === subject.operation) return true;
  return effect !== "allow" && operation === "write" && subject.operation === "delete";
}

export function isInForce(rule: Rule, { now, identity }: MatchContext): boolean {
  if (rule.expires !== undefined && rule.expires <= now) return false;
  return rule.workspace === undefined || rule.workspace.identity === identity;
}

function isShell({ shellLine }: Subject): boolean {
  return shellLine !== undefined;
}

const everyCommand = "*";
export const everyLine = "**";

function matchesCommand(rule: Rule, pattern: string, subject: Subject, context: MatchContext): boolean {
  if (pattern === everyLine) return true;
  if (rule.effect !== "allow") return pattern === everyCommand || forbids(pattern, subject);
  if (rule.cwd !== undefined && rule.cwd !== subject.cwd) return false;
  const { argv, shellLine } = subject;
  // remembered for this session: exactly this line, in exactly this directory
  if (rule.scope === "session" && shellLine !== undefined && pattern === lineText(shellLine)) return true;
  if (argv === undefined) return false;
  if (pattern === everyCommand) return !isShell(subject);
  const { wanted, end } = commandPattern(pattern);
  // what an agent runs elsewhere is another project's: the same words do something else there
  if (rule.cwd === undefined && !isBelowRoots(subject.cwd, context)) return false;
  if (end === "" ? argv.length !== wanted.length : isShell(subject)) return false;
  return begins(wanted, subject, context) && (end !== "*" || beyondStar(argv, wanted.length) === undefined);
}

/** The words of a rule, without the stars that it ends in. In quotes a star is a star. */
function commandPattern(pattern: string): {
  readonly wanted: readonly string[];
  readonly end: "" | "*" | "**";
} {
  const words = splitWords(pattern) ?? [];
  const last = words.at(-1);
  const isStar = (last === "*" || last === "**") && pattern.endsWith(` ${last}`);
  return isStar ? { wanted: words.slice(0, -1), end: last } : { wanted: words, end: "" };
}

function begins(wanted: readonly string[], subject: Subject, context: MatchContext): boolean {
  const { argv = [] } = subject;
  return wanted.every((word, at) =>
    at === 0 ? isProgram(word, argv[0] ?? "", subject, context) : word === argv[at],
  );
}

/** The word for which a rule would allow this command and does not. */
export function tooMuchFor(rule: Rule, subject: Subject, context: MatchContext): string | undefined {
  const { pattern, operation, effect } = rule;
  const { argv, shellLine } = subject;
  if (operation !== "exec" || effect !== "allow" || pattern === undefined) return undefined;
  if (argv === undefined || shellLine !== undefined || !isInForce(rule, context)) return undefined;
  if (!isBelowRoots(subject.cwd, context)) return undefined;
  const { wanted, end } = commandPattern(pattern);
  return end === "*" && wanted.length > 0 && begins(wanted, subject, context)
    ? beyondStar(argv, wanted.length)
    : undefined;
}

/** A name is looked up on PATH and is the same everywhere; a path is the same only if it leads to the same file. */
function isProgram(wanted: string, got: string, { cwd }: Subject, { roots }: MatchContext): boolean {
  if (!/[\\/]/.test(wanted) || !/[\\/]/.test(got)) return wanted === got;
  const root = roots[0] ?? "/";
  return resolve(root, wanted) === resolve(cwd ?? root, got);
}

/** How a line is written in a remembered rule. */
export function lineText(line: string): string {
  return `line: ${line}`;
}

/** Below one of the session's directories; what says nothing of where is. */
export function isBelowRoots(path: string | undefined, { roots }: Pick<MatchContext, "roots">): boolean {
  return path === undefined || roots.some((root) => path === root || path.startsWith(join(root, "/")));
}

/** Generous: whatever could be this command is. */
function forbids(pattern: string, subject: Subject): boolean {
  const { wanted, end } = commandPattern(pattern);
  const commands = commandsOf(subject);
  if (commands === undefined) return true;
  return commands.some(
    (command) => isNamed(wanted[0] ?? "", command[0] ?? "") && hasWords(wanted, command, end !== ""),
  );
}

function isNamed(wanted: string, program: string): boolean {
  return programName(wanted) === programName(program) || wanted === program;
}

/** Behind the program: these words, with or without more, and whatever options stand between, with their values. */
function hasWords(wanted: readonly string[], command: readonly string[], isPrefix: boolean): boolean {
  if (!isPrefix)
    return command.length === wanted.length && wanted.slice(1).every((word, at) => word === command[at + 1]);
  // how many words were found, on each way of telling values from words
  let found = new Set([1]);
  for (const [at, word] of command.entries()) {
    if (at === 0) continue;
    if (found.has(wanted.length)) return true;
    const isValue = command[at - 1]?.startsWith("-") ?? false;
    const next = new Set<number>();
    for (const count of found) {
      if (wanted[count] === word) next.add(count + 1);
      if (word.startsWith("-") || isValue) next.add(count);
    }
    found = next;
  }
  return found.has(wanted.length);
}

/** Generous: where no port is said it may be the one that is meant. */
function matchesHost(pattern: string, host: string, isGenerous: boolean): boolean {
  const [, wantedName = "", wantedPort] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(host.toLowerCase().replace(/\.(?=:|$)/, "")) ?? [];
  if (wantedPort !== undefined && wantedPort !== port && !(isGenerous && port === undefined)) return false;
  if (wantedName === "*") return true;
  return wantedName.startsWith("*.") ? name.endsWith(wantedName.slice(1)) : name === wantedName;
}

function matchesTool(pattern: string, tool: string): boolean {
  if (pattern === "*" || pattern === tool) return true;
  return pattern.endsWith("/*") && tool.startsWith(pattern.slice(0, -1));
}
