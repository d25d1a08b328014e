// Finds builtins of shells that run what is in a text: in the subscript of a name, in a prompt, in a callback.

import type { LineCommand } from "./shell-line.ts";

/** They take names, and a name may have a subscript: `read 'x[$(rm y)]'`. The words of `for` and `set` become values. */
const builtins = new Set(
  `test [ [[ read declare typeset local export readonly let unset mapfile readarray compgen complete wait getopts
  for select set`.split(/\s+/),
);
/** They are given a command, or a file with code. */
const callbacks: Readonly<Record<string, RegExp>> = {
  mapfile: /^-\w*C/,
  readarray: /^-\w*C/,
  compgen: /^-\w*[CF]/,
  complete: /^-\w*[CF]/,
  bind: /^-\w*x/,
  enable: /^-\w*f/,
  fc: /^-\w*[es]/,
};
/** A shell reads and runs the file that they name. */
const startFiles = /^(?:BASH_ENV|ENV|ZDOTDIR)\+?=/;
/** A shell runs what is in them. */
const prompts = /^(?:PS[0-4]=[\s\S]*(?:\$[({]|`)|PROMPT_COMMAND=)/;

/** Code in quotes. What a shell runs at once stands as `$()` in a word. */
function isCode(word: string): boolean {
  return /\$\((?!\))|`|\$\{[^}]*@P/.test(word);
}

/** Whether a command may run what is in a text that is no command yet. */
export function evaluatesText({ words, files, texts }: LineCommand): boolean {
  const [program = "", ...rest] = words;
  if ([...words, ...files].some((word) => startFiles.test(word) || prompts.test(word))) return true;
  // what a variable is set to
  if (files.some((word) => /^\w+(?:\[[^\]]*\])?\+?=/.test(word) && isCode(word))) return true;
  if (rest.some((word) => callbacks[program]?.test(word))) return true;
  const takesNames = builtins.has(program) || setsVariable(words);
  return takesNames && [...rest, ...texts].some(isCode);
}

/** `printf -v`. */
function setsVariable([program, ...rest]: readonly string[]): boolean {
  return program === "printf" && rest.some((word) => word.startsWith("-v"));
}

/** `$(` and a backquote, as `printf` and `echo -e` write them. */
const writtenCode = /\\(?:x24|x60|0?44|0?140|[uU]0*(?:24|60))/;
/** `$1`, `$@`. */
const argument = /\$\{?[\d@*]/;

/** Whether one command of a line may run a text that another one hands over: through a pipe, a variable or a function. */
export function passesCode(commands: readonly LineCommand[]): boolean {
  const runs = ({ words }: LineCommand) => {
    const [program = "", ...rest] = words;
    if (/^(?:read|mapfile|readarray)$/.test(program) || setsVariable(words)) return true;
    return rest.some((word) => (builtins.has(program) && argument.test(word)) || /\$\{[\d@*]@P/.test(word));
  };
  const hasCode = ({ words: [, ...rest], texts }: LineCommand) =>
    [...rest, ...texts].some((word) => isCode(word) || writtenCode.test(word));
  return commands.some(runs) && commands.some(hasCode);
}
