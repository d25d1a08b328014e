// Builds the subject of a command.

import { optional } from "@parley/acp/jsonrpc";
import { canonicalPath } from "./canonical-path.ts";
import { joinWords, readLine } from "./command-words.ts";
import { notableVariables, type Variables } from "./harmless-variables.ts";
import { shellScript } from "./inner-commands.ts";
import type { RuleSubject, SubjectOrigin } from "./subject.ts";

/** By its name, or where systems keep it: a file of that name elsewhere may be anything. Others quote in other ways. */
const systemShell =
  /^(?:\/(?:usr\/(?:local\/)?|opt\/homebrew\/|run\/current-system\/sw\/)?bin\/)?(?:ba|z|k|da|a)?sh$/;

/** A command as it is read: its words, where a shell is not needed, or else the line for it. */
export interface ReadCommand {
  readonly argv?: readonly string[];
  readonly shellLine?: string;
  readonly cwd: string;
  readonly env: Variables;
}

/**
 * `cwd` is canonical. Without arguments the command is a whole line. A line of simple words is the same as those words,
 * also behind `sh -c`; `NAME=value` in front of them is a variable, and `cd DIR &&` is their directory.
 */
export function readCommand(
  command: string,
  args: readonly string[] | undefined,
  cwd: string,
  env: Variables = {},
  plainOption = /^-c$/,
): ReadCommand {
  if (args === undefined) return fromLine(command, cwd, env, plainOption) ?? { shellLine: command, cwd, env };
  return fromWords([command, ...args], cwd, env, plainOption);
}

/** `plainOption`: the option of a shell that reads the next word and nothing else. */
function fromWords(argv: readonly string[], cwd: string, env: Variables, plainOption: RegExp): ReadCommand {
  const script = shellScript(argv);
  if (script === undefined) return { argv, cwd, env };
  // with more options a shell may read other files first: then all its words are the line, for rules and for people
  const [program = "", option = ""] = argv;
  const isPlain = argv.length === 3 && plainOption.test(option) && systemShell.test(program);
  if (!isPlain) return { argv, shellLine: joinWords(argv), cwd, env };
  return fromLine(script, cwd, env, plainOption) ?? { argv, shellLine: script, cwd, env };
}

function fromLine(line: string, cwd: string, env: Variables, plainOption: RegExp): ReadCommand | undefined {
  const simple = readLine(line);
  if (simple === undefined) return undefined;
  const { words, directory } = simple;
  const where = directory === undefined ? cwd : canonicalPath(directory, cwd);
  return fromWords(words, where, { ...env, ...simple.env }, plainOption);
}

/** Agents that run commands themselves do so in a login shell, and name the command behind it. */
const optionOfClaims = /^-l?c$/;

/**
 * Returns the subject of a command, with those of its variables that are not known to be harmless.
 *
 * @param folder - The working directory, with links resolved.
 *
 * @example
 * import { commandSubject, summaryOf } from "@parley/client/policy";
 *
 * console.log(summaryOf(commandSubject("op", "npm", ["test"], "/home/me/project")));
 */
export function commandSubject(
  origin: SubjectOrigin,
  command: string,
  args: readonly string[] | undefined,
  folder: string,
  variables: Variables = {},
): RuleSubject {
  const options = origin === "claim" ? [optionOfClaims] : [];
  const { argv, shellLine, cwd, env } = readCommand(command, args, folder, variables, ...options);
  const known = optional({ argv, shellLine, env: notableVariables(env) });
  return { origin, operation: "exec", cwd, ...known };
}
