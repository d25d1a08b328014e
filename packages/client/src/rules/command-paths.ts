// Finds the files that the words of a command name.

import { homedir } from "node:os";
import { canonicalPath } from "../subjects/canonical-path.ts";
import { commandsOf } from "../subjects/inner-commands.ts";
import type { Subject } from "../subjects/subject.ts";

/** As many names are looked up: each costs a look at the disk. */
const maxNames = 4_000;

/**
 * Canonical, resolved from the directory of the command; undefined: it cannot be told. What a shell would make of a word
 * beyond its quotes and `~` is not known here.
 *
 * @throws {RequestError} "permission_denied" When a word leads through too many links.
 */
export function pathsInCommand(subject: Subject, root: string): readonly string[] | undefined {
  const commands = commandsOf(subject);
  if (commands === undefined) return undefined;
  const names = new Set<string>();
  for (const { words, files } of commands) {
    const [program = "", ...rest] = words;
    for (const word of [...(/[\\/]/.test(program) ? [program] : []), ...rest, ...files]) {
      for (const name of namesIn(word)) if (name !== "" && !name.startsWith("-")) names.add(name);
      if (names.size > maxNames) return undefined;
    }
  }
  const cwd = canonicalPath(subject.cwd ?? root);
  return [...names].map((name) => canonicalPath(name, cwd));
}

/** `--file=x`, `if=x`, `@x`, `f=@x`, `host:x`, `-fx`, `~/x` */
function namesIn(word: string): string[] {
  const [, glued = ""] = /^-\w(.+)$/s.exec(word) ?? [];
  const parts = [word, glued, ...(/[=@:,]/.test(word) ? word.split(/[=@:,]/, maxNames + 1) : [])];
  return parts.flatMap((part) => {
    const [, rest] = /^(?:~|\$HOME|\$\{HOME\})((?:\/.*)?)$/s.exec(part) ?? [];
    return rest === undefined ? [part] : [part, `${homedir()}${rest}`];
  });
}
