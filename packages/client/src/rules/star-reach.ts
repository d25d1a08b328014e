// Checks whether the star of a command rule may stand for the given words.

import {
  interpreters,
  isRunner,
  opaque,
  plainName,
  programName,
  runners,
  runningWord,
  shells,
  wordsBeforeInner,
} from "../subjects/runners.ts";
import { type StarWords, starWords, unknownWords } from "../subjects/star-words.ts";

/**
 * The first word that a star does not stand for; undefined where it stands for all of them. `fixed`: so many words are in
 * the rule itself.
 */
export function beyondStar(argv: readonly string[], fixed: number): string | undefined {
  const free = argv.slice(fixed);
  const [next] = free;
  if (next === undefined) return undefined;
  const before = wordsBeforeInner(argv);
  if (before !== undefined) {
    // the rule itself says which program; of Python's own modules many run what they are given
    const inner = argv[before] ?? "";
    const isNamed =
      fixed > before && !isOption(inner) && (argv[1] !== "-m" || starWords[inner] !== undefined);
    return isNamed ? beyondStar(argv.slice(before), fixed - before) : next;
  }
  const name = programName(argv[0] ?? "");
  const short = plainName(argv[0] ?? "");
  if (runners.has(name)) return next;
  if (opaque.has(name) || opaque.has(short)) return free.find((word) => !isInformation(word));
  if (interpreters.has(short) || shells.has(name)) {
    if (namesScript(argv, fixed)) return undefined;
    const words = starWords[short];
    return words === undefined ? free.find((word) => !isInformation(word)) : beyondWords(words, argv, fixed);
  }
  const words = starWords[name] ?? starWords[short];
  if (words !== undefined) return beyondWords(words, argv, fixed);
  // a script in the workspace is known to whoever wrote the rule
  if (/^[^/~].*\//.test(argv[0] ?? "")) return undefined;
  if (argv.some((word, at) => at > 0 && runningWord.test(word))) return next;
  return free.find((word) => !isCovered(word, unknownWords) || isRunner(word));
}

function isInformation(word: string): boolean {
  return ["--version", "--help", "-V"].includes(word);
}

/** What stands behind a script is for the script. */
function namesScript(argv: readonly string[], fixed: number): boolean {
  const name = plainName(argv[0] ?? "");
  const at = name === "deno" && argv[1] === "run" ? 2 : 1;
  // Python takes all that follows its code for arguments; others go on reading options
  if (/^(?:python|pypy)$/.test(name) && argv[1] === "-c") return fixed > 2;
  const script = argv[at] ?? "";
  return fixed > at && !isOption(script) && /[./]/.test(script);
}

function beyondWords(words: StarWords, argv: readonly string[], fixed: number): string | undefined {
  const { first, bundle } = words;
  const start = argv[1] === "--no-pager" ? 2 : 1;
  if (first !== undefined) {
    const inner = first[argv[start] ?? ""];
    const free = argv.slice(fixed);
    if (inner === undefined) return free.find((word) => !isCovered(word, words));
    return beyondOperands(inner, argv, { start: start + 1, fixed });
  }
  if (bundle !== undefined && !bundle.test(argv[1] ?? "")) return argv[fixed];
  return beyondOperands(words, argv, { start, fixed });
}

interface Span {
  /** Where the program's own words begin. */
  readonly start: number;
  readonly fixed: number;
}

function beyondOperands(
  words: StarWords,
  argv: readonly string[],
  { start, fixed }: Span,
): string | undefined {
  const next = argv[fixed];
  const isRest = (at: number) =>
    words.rest === true &&
    argv.slice(start, at).some((word, index, all) => word === "--" && !isOption(all[index - 1] ?? ""));
  // an option in the rule that nobody knows here may take what the star stands for as its value
  const odd = argv
    .slice(start, fixed)
    .some((word, index) => isOption(word) && !isRest(start + index) && !isCovered(word, words));
  if (odd) return next;
  const script =
    words.script === undefined ? -1 : argv.findIndex((word, at) => at >= start && !isOption(word));
  for (let at = Math.max(start, fixed); at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (isRest(at)) return undefined;
    if (at === script ? !words.script?.test(word) : !isCovered(word, words)) return word;
  }
  return undefined;
}

function isOption(word: string): boolean {
  return word.startsWith("-") && word !== "-" && word !== "--";
}

function isCovered(word: string, words: StarWords): boolean {
  if (word === "-" || word === "--") return words.operands !== undefined;
  if (!isOption(word)) return words.operands?.test(word) ?? false;
  const options = words.options?.split(" ") ?? [];
  const [name = ""] = word.split("=", 1);
  if (options.some((each) => each === "*" || each === word || each === `${name}=`)) return true;
  return !word.startsWith("--") && areFlags(word.slice(1), words);
}

function areFlags(letters: string, { flags = "", valued = "" }: StarWords): boolean {
  for (const letter of letters) {
    if (valued.includes(letter)) return true;
    if (!flags.includes(/\d/.test(letter) ? "0" : letter)) return false;
  }
  return letters !== "";
}
