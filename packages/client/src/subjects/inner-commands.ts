// Finds the commands that a command would run in turn, for rules that forbid.

import { commandsInLine } from "./command-words.ts";
import {
  interpreters,
  plainName,
  programName,
  runners,
  runningWord,
  shells,
  wordsBeforeInner,
} from "./runners.ts";
import { starWords } from "./star-words.ts";
import type { Subject } from "./subject.ts";

/** What `sh -c` and its like are given to read. */
export function shellScript(argv: readonly string[]): string | undefined {
  const name = programName(argv[0] ?? "");
  if (!shells.has(name) && !/^(?:busybox|cmd|powershell|pwsh)$/.test(name)) return undefined;
  const at = argv.findIndex((word, index) => index > 0 && /^(?:-[a-zA-Z]*c|\/c|-Command)$/i.test(word));
  return at < 0 ? undefined : argv[at + 1];
}

interface Carrier {
  /** Words behind which other commands stand, word by word. */
  readonly follows?: RegExp;
  /** Options whose value, attached or not, is a line. */
  readonly lines?: RegExp;
}

const carriers: Readonly<Record<string, Carrier>> = {
  find: { follows: /^-(?:exec|ok)(?:dir)?$/ },
  fd: { follows: /^(?:-[xX]|--exec(?:-batch)?)$/ },
  git: {
    follows: /^(?:run|foreach)$/,
    lines: /^(?:-x|-c|-O|--[eourc][\w-]*)(?:=|$)|^-[xcO]/,
  },
  tar: { lines: /^(?:-[IF]|--(?:to|check|use|rsh|info|new-vol)[\w-]*(?:=|$))/ },
  rsync: { lines: /^(?:-[a-zA-Z]*e|--rs[\w-]*(?:=|$))/ },
  make: { lines: /^(?:--eval(?:=|$)|\w+=)/ },
  ...of("docker podman", { follows: /^(?:run|exec)$/ }),
  ...of("kubectl nix", { follows: /^(?:run|exec|shell|develop|--)$/ }),
  go: { lines: /^--?(?:tool)?exec(?:=|$)/ },
  npm: { lines: /^(?:-c|--call)(?:=|$)/ },
};

const maxLine = 100_000;
const maxWords = 4_000;

/** More than is looked at: whatever may be in the rest, no rule allows it. */
export function isTooLong({ argv = [], shellLine = "" }: Pick<Subject, "argv" | "shellLine">): boolean {
  return argv.length > maxWords || shellLine.length > maxLine;
}

const known = new WeakMap<object, { readonly commands: readonly (readonly string[])[] | undefined }>();

/** What is about to be run, and what that would run in turn. Undefined: there is too much of it to tell. */
export function commandsOf(
  subject: Pick<Subject, "argv" | "shellLine">,
): readonly (readonly string[])[] | undefined {
  const found = known.get(subject);
  if (found !== undefined) return found.commands;
  const { argv, shellLine } = subject;
  const outer = isTooLong(subject)
    ? undefined
    : [...(argv === undefined ? [] : [argv]), ...(shellLine === undefined ? [] : commandsInLine(shellLine))];
  const commands = outer === undefined ? undefined : withInner(outer);
  known.set(subject, { commands });
  return commands;
}

/** Beyond them nobody looks; what is forbidden may be further in. */
const maxCommands = 5_000;
const maxInnerWords = 256;

function withInner(outer: readonly (readonly string[])[]): (readonly string[])[] | undefined {
  const keys = new Set<string>();
  const found: (readonly string[])[] = [];
  const waiting = [...outer];
  for (let command = waiting.pop(); command !== undefined; command = waiting.pop()) {
    const key = command.join("\0");
    if (keys.has(key)) continue;
    const inner = startedBy(command);
    if (keys.size + inner.length > maxCommands) return undefined;
    if (inner.length > 0 && command.length > maxInnerWords) return undefined;
    keys.add(key);
    found.push(command);
    waiting.push(...inner);
  }
  return found;
}

function startedBy(argv: readonly string[]): (readonly string[])[] {
  const name = programName(argv[0] ?? "");
  const short = plainName(argv[0] ?? "");
  const words = argv.slice(1);
  // word by word, or one of them is a line
  if (runners.has(name) || shells.has(name))
    return [...words.map((_, at) => words.slice(at)), ...words.flatMap(linesIn)];
  const before = wordsBeforeInner(argv);
  const inner = before === undefined ? [] : argv.slice(before).map((_, at) => argv.slice(before + at));
  if (interpreters.has(short) || /^(?:[gmn]?awk|n?vim?|ex|ed|emacs)$/.test(name))
    return [...inner, ...words.flatMap(linesInCode)];
  if (name === "sed") return words.flatMap(linesInSed);
  const isKnown = starWords[name] !== undefined || starWords[short] !== undefined;
  const carrier = carriers[short] ?? carriers[name] ?? (isKnown ? undefined : { follows: runningWord });
  return carrier === undefined ? inner : [...inner, ...carried(carrier, words)];
}

function carried({ follows, lines }: Carrier, words: readonly string[]): (readonly string[])[] {
  const at = follows === undefined ? -1 : words.findIndex((word) => follows.test(word));
  const behind = at < 0 ? [] : words.slice(at + 1);
  const told = words.flatMap((word, index) => {
    if (lines === undefined || !lines.test(word)) return [];
    // `-xCMD`, `--exec=CMD`, `-c alias.x=!CMD`, `--checkpoint-action=exec=CMD`, `-x CMD`
    return [
      word.replace(/^-\w/, ""),
      ...values(word),
      words[index + 1] ?? "",
      ...values(words[index + 1] ?? ""),
    ];
  });
  return [...behind.map((_, from) => behind.slice(from)), ...[...behind, ...told].flatMap(linesIn)];
}

/** What stands behind each `=`. */
function values(word: string): string[] {
  return [...word.matchAll(/=/g)].map(({ index }) => word.slice(index + 1));
}

function linesIn(word: string): string[][] {
  return /\s|[;|&!]/.test(word) ? commandsInLine(word.replace(/^!/, "")) : [[word]];
}

/** Code says what it runs in quotes, or behind an exclamation mark. */
function linesInCode(word: string): string[][] {
  return commandsInLine(word.replaceAll(/["'`!]/g, ";"));
}

/** Behind the command `e`. */
function linesInSed(word: string): string[][] {
  return [...word.matchAll(/(?:^|[;{}\s\d$/,])e\s*(\S.*)/g)].flatMap(([, line = ""]) => commandsInLine(line));
}

function of(names: string, carrier: Carrier): Record<string, Carrier> {
  return Object.fromEntries(names.split(" ").map((name) => [name, carrier]));
}
