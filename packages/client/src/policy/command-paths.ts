// The files that a command names, as far as its words tell.

import { resolve } from "node:path";
import type { Subject } from "../subject.ts";
import { canonicalPath } from "./canonical-path.ts";
import { splitWords } from "./command-words.ts";

/** As many words are looked at. */
const maxWords = 256;

/** Canonical. What a shell would make of a word beyond its quotes is not known here. */
export function pathsInCommand({ argv = [], shellLine, cwd }: Subject, root: string): string[] {
  const inLine = shellLine === undefined ? [] : wordsOfLine(shellLine);
  const words = [...argv.slice(1), ...inLine].slice(0, maxWords);
  const paths = words.flatMap((word) => {
    // `--file=x`, `if=x`, `@x`
    const [, value = ""] = /^[^=]*=(.+)$/.exec(word) ?? [];
    return [word, value, word.replace(/^@/, "")].filter((each) => each !== "" && !each.startsWith("-"));
  });
  return [...new Set(paths)].map((path) => canonicalPath(resolve(cwd ?? root, path)));
}

function wordsOfLine(line: string): string[] {
  return line
    .split(/[;|&\r\n(){}`<>]|\$\(/)
    .flatMap((piece) => splitWords(piece) ?? piece.split(/\s+/))
    .filter((word) => word !== "");
}
