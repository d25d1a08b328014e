// Reads and matches the patterns of exec rules: exact where they allow, generous where they forbid.

import { isWords, joinVariables, joinWords, simpleCommand, writtenWords } from "../subjects/command-words.ts";
import { areSameVariables, notableVariables } from "../subjects/harmless-variables.ts";
import { commandsOf, isExpanded, programName } from "../subjects/inner-commands.ts";
import type { RuleSubject } from "../subjects/subject.ts";
import { PatternError } from "./name-pattern.ts";
import { escapedPattern, pathMatcher, pathPattern } from "./path-pattern.ts";

/** Stands for every line. */
export const everyLine = "**";

interface CommandPattern {
  /** Of `(DIR) WORDS`. */
  readonly directory?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly words: readonly string[];
  /** `WORDS **`: any words may follow. */
  readonly isOpen: boolean;
}

/** Throws PatternError. `text` is not `everyLine`. */
export function commandPattern(text: string): CommandPattern {
  const [, directory, line = text] = /^\(((?:[^()\\]|\\[\s\S])*)\)\s+([\s\S]*)$/.exec(text) ?? [];
  if (directory !== undefined) pathPattern(directory.trim());
  const closed = line.replace(/\s\*\*$/, "");
  const written = writtenWords(closed);
  if (!isWords(written)) throw new PatternError(adviceFor(written.character, written.raw, line));
  const command = simpleCommand(written);
  if (command === undefined)
    throw new PatternError("a command is missing; write one after the variables, such as exec CI=1 npm test");
  const [program = ""] = command.words;
  if (program === "" || /[\s*]/.test(program))
    throw new PatternError(
      `the quotes make ${JSON.stringify(program)} the name of one program; do not quote the whole command: exec npm test`,
    );
  return {
    ...(directory === undefined ? {} : { directory: directory.trim() }),
    ...command,
    isOpen: closed !== line,
  };
}

function adviceFor(character: string, raw: string, line: string): string {
  if (character === "") return "a quote is not closed, or a backslash has no character after it";
  const words = line.replace(/(?:\s+\*+)+\s*$/, "");
  if (character === "*" && words !== line)
    return `* does not match words; to allow any further words, write ${words} **; to deny or ask, write ${words}; for a literal star, write '*'`;
  if (character === "*")
    return `* does not match a part of a word, or words in the middle; write WORDS ** for any words at the end, or '${raw}' for a literal star`;
  if (character === "#") return "a comment needs a line of its own; write '#' for a literal #";
  if (character === "(" || character === ")")
    return "brackets may only hold a directory before the command, such as exec (packages/*) npm test; write '(' for a literal bracket";
  if (character === "&" && /^cd\s/.test(line))
    return "a rule cannot contain cd; write exec (DIR) WORDS for a command in another directory";
  const why = `${JSON.stringify(character)} has a special meaning in a shell`;
  return `${why}; to allow every line, write exec **; to deny or ask, write one rule for each command; for the literal character, use quotes`;
}

/** These very words, in this directory, with these variables and no others that matter. */
export function allowsCommand(text: string, subject: RuleSubject, roots: readonly string[]): boolean {
  const { argv, shellLine, cwd, env } = subject;
  if (argv === undefined) return false;
  const pattern = commandPattern(text);
  const { words, isOpen, directory } = pattern;
  // words and then any are of one simple command
  if (isOpen ? shellLine !== undefined : argv.length !== words.length) return false;
  if (!words.every((word, at) => word === argv[at])) return false;
  if (!areSameVariables(env, notableVariables(pattern.env))) return false;
  if (cwd === undefined) return false;
  return directory === undefined ? cwd === roots[0] : pathMatcher(directory, roots, true, true)(cwd);
}

/** Generous: whatever could be this command is. What cannot be told apart is asked by others. */
export function forbidsCommand(text: string, subject: RuleSubject, roots: readonly string[]): boolean {
  const { words, directory } = commandPattern(text);
  const { cwd, shellLine } = subject;
  // a line may go elsewhere first
  if (directory !== undefined && cwd !== undefined && shellLine === undefined)
    if (!pathMatcher(directory, roots, false)(cwd)) return false;
  return (commandsOf(subject) ?? []).some((command) => isCommand(words, command.words));
}

/** It would be this command if the shell made these words of others: `git $X` may be `git push`. */
export function mayForbidCommand(text: string, subject: RuleSubject): boolean {
  const { words } = commandPattern(text);
  return (commandsOf(subject) ?? []).some(
    (command) => !command.isGuess && isCommand(words, command.words, isExpanded),
  );
}

function isCommand(
  [program = "", ...more]: readonly string[],
  words: readonly string[],
  isAny: (word: string) => boolean = () => false,
): boolean {
  const [first = "", ...rest] = words;
  return programName(program) === programName(first) && hasWords(more, rest, isAny);
}

/** These words in this order; options and their values may stand between them, and anything in front of an option. */
function hasWords(
  wanted: readonly string[],
  words: readonly string[],
  isAny: (word: string) => boolean,
): boolean {
  // how many words were found, on each way of telling values from words
  let found = new Set([0]);
  for (const [at, word] of words.entries()) {
    if (found.has(wanted.length)) return true;
    const maySkip = word.startsWith("-") || (words[at - 1]?.startsWith("-") ?? false);
    const next = new Set<number>();
    for (const count of found) {
      if (wanted[count] === word || isAny(word)) next.add(count + 1);
      if (maySkip || wanted[count]?.startsWith("-")) next.add(count);
    }
    found = next;
  }
  return found.has(wanted.length);
}

/** The pattern that is just this command. Undefined: it is written by none, since a shell has to read it. */
export function patternFor(
  { argv, shellLine, cwd, env = {} }: RuleSubject,
  root: string,
): string | undefined {
  if (argv === undefined || shellLine !== undefined || cwd === undefined) return undefined;
  const where = cwd === root ? "" : `(${escapedPattern(cwd)}) `;
  const text = `${where}${joinVariables(env)}${joinWords(argv)}`;
  try {
    const { words } = commandPattern(text);
    return words.length === argv.length ? text : undefined;
  } catch {
    return undefined;
  }
}
