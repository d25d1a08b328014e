// Builds the subject of a command.

import { joinWords, plainWords } from "./command-words.ts";
import { shellScript } from "./inner-commands.ts";
import type { Subject, SubjectOrigin } from "./subject.ts";

/** By its name, or where systems keep it: a file of that name elsewhere may be anything. */
const systemShell =
  /^(?:\/(?:usr\/(?:local\/)?|opt\/homebrew\/|run\/current-system\/sw\/)?bin\/)?(?:ba|z|k|da|a|fi)?sh$/;

/** Without arguments the command is a whole line; one of plain words is the same as those words. */
export function commandSubject(
  origin: SubjectOrigin,
  command: string,
  args: readonly string[] | undefined,
  cwd: string,
  env: readonly string[] = [],
): Subject {
  const base = { origin, operation: "exec", cwd, ...(env.length === 0 ? {} : { env }) } as const;
  if (args === undefined) {
    const words = plainWords(command);
    return words === undefined ? { ...base, shellLine: command } : { ...base, argv: words };
  }
  const argv = [command, ...args];
  const script = shellScript(argv);
  if (script === undefined) return { ...base, argv };
  // with more options a shell may read other files first: then all its words are the line, for rules and for people
  const isPlain = argv.length === 3 && /^-l?c$/.test(args[0] ?? "") && systemShell.test(command);
  if (!isPlain) return { ...base, argv, shellLine: joinWords(argv) };
  const words = plainWords(script);
  return words === undefined ? { ...base, argv, shellLine: script } : { ...base, argv: words };
}
