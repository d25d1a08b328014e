// The error for a proxy whose options were typed beside its name: a proxy and its options are one argument.

import { type CommandError, usageError } from "../command/command.ts";
import { quotedWord, shellLine } from "../command/shell-words.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { shippedNamed } from "./components.ts";

/** Undefined if no word before an option is a proxy that has it. */
export function unquotedProxy(args: readonly string[]): CommandError | undefined {
  const end = args.indexOf("--");
  const [typed, rest] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end)];
  for (const [at, word] of typed.entries()) {
    const [, name] = /^--([\w-]+)/.exec(word) ?? [];
    const from = name === undefined ? -1 : typed.findLastIndex((each, n) => n < at && hasOption(each, name));
    if (from < 0) continue;
    const next = typed.findIndex((each, n) => n > at && shippedNamed(each) !== undefined);
    const to = next < 0 ? typed.length : next;
    const quoted = quotedWord(shellLine(typed.slice(from, to)));
    const line = [shellLine(typed.slice(0, from)), quoted, shellLine([...typed.slice(to), ...rest])];
    return usageError(
      `proxy: --${name} is an option of ${typed[from]}, and a proxy and its options are one argument`,
      `quote them: parley proxy ${escapedLine(line.filter((part) => part !== "").join(" "))}`,
    );
  }
  return undefined;
}

function hasOption(word: string, name: string): boolean {
  const options = shippedNamed(word)?.options;
  return options !== undefined && Object.hasOwn(options, name);
}
