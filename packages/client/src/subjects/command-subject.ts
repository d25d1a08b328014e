// Builds the subject of a command.

import { optional } from "@parley/acp/internal";
import { canonicalPath } from "./canonical-path.ts";
import { joinWords, readLine } from "./command-words.ts";
import { notableVariables } from "./harmless-variables.ts";
import { shellScript } from "./inner-commands.ts";
import type { Subject, SubjectOrigin } from "./subject.ts";

/** By its name, or where systems keep it: a file of that name elsewhere may be anything. */
const systemShell =
  /^(?:\/(?:usr\/(?:local\/)?|opt\/homebrew\/|run\/current-system\/sw\/)?bin\/)?(?:ba|z|k|da|a|fi)?sh$/;

/**
 * `cwd` is canonical. Without arguments the command is a whole line. A line of simple words is the same as those words;
 * `NAME=value` in front of them is a variable, and `cd DIR &&` is their directory.
 */
export function commandSubject(
  origin: SubjectOrigin,
  command: string,
  args: readonly string[] | undefined,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Subject {
  const base = { origin, operation: "exec" } as const;
  const whole = { cwd, ...optional({ env: notableVariables(env) }) };
  const read = (line: string): Subject | undefined => {
    const simple = readLine(line);
    if (simple === undefined) return undefined;
    const { words, directory } = simple;
    const all = notableVariables({ ...env, ...simple.env });
    const where = directory === undefined ? cwd : canonicalPath(directory, cwd);
    return { ...base, argv: words, cwd: where, ...optional({ env: all }) };
  };
  if (args === undefined) return read(command) ?? { ...base, ...whole, shellLine: command };
  const argv = [command, ...args];
  const script = shellScript(argv);
  if (script === undefined) return { ...base, ...whole, argv };
  // with more options a shell may read other files first: then all its words are the line, for rules and for people
  const isPlain = argv.length === 3 && /^-l?c$/.test(args[0] ?? "") && systemShell.test(command);
  if (!isPlain) return { ...base, ...whole, argv, shellLine: joinWords(argv) };
  return read(script) ?? { ...base, ...whole, argv, shellLine: script };
}
