// Whether a rule is about what is about to happen.

import { join, resolve } from "node:path";
import type { Subject } from "../subject.ts";
import { type CommandPart, commandsOf, commandTrick, programName } from "./command-tricks.ts";
import { splitWords } from "./command-words.ts";
import { matchesPath } from "./path-pattern.ts";
import type { Rule } from "./rule.ts";

/** Where it is about to happen. */
export interface Place {
  readonly sessionId: string;
  /** The directories of the session, canonical; the working directory first. */
  readonly roots: readonly string[];
  /** Which directory the first root is, whatever its name. */
  readonly identity: string;
  readonly now: number;
}

export function matches(rule: Rule, subject: Subject, place: Place): boolean {
  if (rule.of !== "any" && rule.of !== subject.origin) return false;
  if (rule.operation !== "*" && rule.operation !== subject.operation) return false;
  if (!isInForce(rule, place)) return false;
  // a label is what an agent calls it; only a person may take its word for it
  if (rule.effect === "allow" && subject.labelOnly) return false;
  const { pattern } = rule;
  if (pattern === undefined) return rule.effect !== "allow" || rule.operation !== "exec" || !isShell(subject);
  switch (rule.operation) {
    case "read":
    case "write":
    case "delete":
      return (
        subject.path !== undefined && matchesPath(pattern, subject.path, place.roots, rule.effect === "allow")
      );
    case "exec":
      return matchesCommand(rule, pattern, subject, place);
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

export function isInForce(rule: Rule, { now, sessionId, identity }: Place): boolean {
  if (rule.expires !== undefined && rule.expires <= now) return false;
  if (rule.sessionId !== undefined && rule.sessionId !== sessionId) return false;
  return rule.workspace === undefined || rule.workspace.identity === identity;
}

function isShell({ shellLine }: Subject): boolean {
  return shellLine !== undefined;
}

const everyCommand = "*";
export const everyLine = "**";

function matchesCommand(rule: Rule, pattern: string, subject: Subject, place: Place): boolean {
  if (pattern === everyLine) return true;
  if (rule.effect !== "allow") return pattern === everyCommand || forbids(pattern, subject);
  if (rule.cwd !== undefined && rule.cwd !== subject.cwd) return false;
  const { argv, shellLine } = subject;
  // remembered for this session: exactly this line, in exactly this directory
  if (rule.scope === "session" && shellLine !== undefined && pattern === lineText(shellLine)) return true;
  if (argv === undefined) return false;
  if (pattern === everyCommand) return !isShell(subject);
  const words = splitWords(pattern) ?? [];
  const isPrefix = words.at(-1) === "*" && !pattern.endsWith("'*'");
  const wanted = isPrefix ? words.slice(0, -1) : words;
  if (isPrefix ? argv.length < wanted.length : argv.length !== wanted.length) return false;
  if (isPrefix && (isShell(subject) || commandTrick(argv, wanted.length) !== undefined)) return false;
  // what an agent runs elsewhere is another project's: the same words do something else there
  if (rule.cwd === undefined && !isBelowRoots(subject.cwd, place)) return false;
  return wanted.every((word, at) =>
    at === 0 ? isProgram(word, argv[0] ?? "", subject, place) : word === argv[at],
  );
}

/** A name is looked up on PATH and is the same everywhere; a path is the same only if it leads to the same file. */
function isProgram(wanted: string, got: string, { cwd }: Subject, { roots }: Place): boolean {
  if (!/[\\/]/.test(wanted) || !/[\\/]/.test(got)) return wanted === got;
  const root = roots[0] ?? "/";
  return resolve(root, wanted) === resolve(cwd ?? root, got);
}

/** How a line is written in a remembered rule. */
export function lineText(line: string): string {
  return `line: ${line}`;
}

/** Below one of the session's directories; what says nothing of where is. */
export function isBelowRoots(path: string | undefined, { roots }: Pick<Place, "roots">): boolean {
  return path === undefined || roots.some((root) => path === root || path.startsWith(join(root, "/")));
}

/** Generous: whatever could be this command is. */
function forbids(pattern: string, subject: Subject): boolean {
  const words = splitWords(pattern) ?? [];
  const isPrefix = words.at(-1) === "*";
  const wanted = isPrefix ? words.slice(0, -1) : words;
  return commandsOf(subject).some((part) => isForbidden(part, wanted, isPrefix));
}

/** As many options may stand between two words of a rule. */
const maxBetween = 16;

/** `git -C x push` is `git push`: options, with their values, may stand in between. */
function isForbidden({ words, from }: CommandPart, wanted: readonly string[], isPrefix: boolean): boolean {
  const [program, ...further] = wanted;
  if (program === undefined) return true;
  const got = words[from] ?? "";
  if (program !== got && programName(program) !== programName(got)) return false;
  let at = from + 1;
  for (const word of further) {
    const last = at + maxBetween;
    while (at < last && words[at] !== word && words[at]?.startsWith("-")) {
      at++;
      if (words[at] !== word && words[at]?.startsWith("-") === false) at++;
    }
    if (words[at] !== word) return false;
    at++;
  }
  return isPrefix || at === words.length;
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
