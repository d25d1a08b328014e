// Finds the files that a command names, and whether it only reads.

import { resolve } from "node:path";
import { canonicalPath } from "../subjects/canonical-path.ts";
import { commandsInLine, splitWords } from "../subjects/command-words.ts";
import { commandsOf, isTooLong } from "../subjects/inner-commands.ts";
import { programName } from "../subjects/runners.ts";
import type { Subject } from "../subjects/subject.ts";
import { beyondStar } from "./star-reach.ts";

/** As many names are looked up: each costs a look at the disk. */
const maxNames = 4_000;

/** Canonical; undefined: too many to look at. What a shell would make of a word beyond its quotes is not known here. */
export function pathsInCommand(subject: Subject, root: string): readonly string[] | undefined {
  if (isTooLong(subject)) return undefined;
  const { argv = [], shellLine, cwd } = subject;
  const inLine = shellLine === undefined ? [] : wordsOfLine(shellLine);
  const started = commandsOf(subject);
  if (started === undefined) return undefined;
  const names = new Set<string>();
  for (const word of [...argv.slice(1), ...inLine, ...started.flatMap((words) => words.slice(1))]) {
    for (const name of namesIn(word)) if (name !== "" && !name.startsWith("-")) names.add(name);
    if (names.size > maxNames) return undefined;
  }
  return [...names].map((path) => canonicalPath(resolve(cwd ?? root, path)));
}

/** `--file=x`, `if=x`, `@x`, `f=@x`, `host:x`, `-fx` */
function namesIn(word: string): string[] {
  const [, glued = ""] = /^-\w(.+)$/s.exec(word) ?? [];
  return [word, glued, ...(/[=@:,]/.test(word) ? word.split(/[=@:,]/, maxNames + 1) : [])];
}

function wordsOfLine(line: string): string[] {
  return line
    .split(/[;|&\r\n(){}`<>]|\$\(/)
    .flatMap((piece) => splitWords(piece) ?? piece.split(/\s+/))
    .filter((word) => word !== "");
}

/** They change nothing that they name. */
const readers =
  /^(?:cat|bat|head|tail|nl|ls|stat|file|wc|grep|egrep|fgrep|rg|find|diff|cmp|md5sum|sha\d*sum|du|jq|od|hexdump|strings|test|\[|readlink|realpath|basename|dirname|echo|printf|cd|pwd|true)$/;
const gitReaders = /^(?:add|blame|commit|diff|grep|log|ls-files|show|status)$/;

/** Whether it is known to change none of the files that it names. */
export function onlyReads({ argv, shellLine }: Subject): boolean {
  if (shellLine === undefined) return argv !== undefined && isReader(argv);
  return !shellLine.includes(">") && commandsInLine(shellLine).every(isReader);
}

function isReader(argv: readonly string[]): boolean {
  const program = programName(argv[0] ?? "");
  if (beyondStar(argv, 1) !== undefined) return false;
  return program === "git" ? gitReaders.test(argv[1] ?? "") : readers.test(program);
}
