// Reads and writes simple commands: words that mean the same with and without a shell.

/** What a rule or a line says that needs no shell. */
export interface SimpleCommand {
  /** Of `NAME=value WORDS`. */
  readonly env: Readonly<Record<string, string>>;
  readonly words: readonly string[];
}

/** A word, and how it was written. */
export interface WrittenWord {
  readonly text: string;
  readonly raw: string;
}

/** What is in the way of reading a text as simple words. */
export interface ShellCharacter {
  /** The character that a shell would read as more than itself; empty where a quote or a backslash has no end. */
  readonly character: string;
  /** What is written around it. */
  readonly raw: string;
}

/** They mean more to a shell wherever they stand without quotes. */
const special = /[|&;<>()$`*?[\]{}!\r\n]/;
/** They do at the beginning of a word, and a `~` also behind `=` and `:`. */
const specialFirst = /[#~=%^]/;
/** cmd.exe has other quotes and other special characters. */
const plainOnWindows = /^[\w@+=:,./\\ -]*$/;

/** The words of a text, or what keeps it from being just words. */
export function writtenWords(text: string): readonly WrittenWord[] | ShellCharacter {
  const words: WrittenWord[] = [];
  for (let at = firstOf(/[^ \t]/g, text, 0); at < text.length; ) {
    const word = wordAt(text, at);
    if ("character" in word) return word;
    words.push(word);
    at = firstOf(/[^ \t]/g, text, at + word.raw.length);
  }
  return words;
}

function firstOf(wanted: RegExp, text: string, from: number): number {
  wanted.lastIndex = from;
  return wanted.exec(text)?.index ?? text.length;
}

const piece = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([^\r\n])|([^'"\\])/y;

function wordAt(text: string, start: number): WrittenWord | ShellCharacter {
  const fail = (character: string): ShellCharacter => ({
    character,
    raw: text.slice(start, firstOf(/[ \t]/g, text, start)),
  });
  let word = "";
  let at = start;
  while (at < text.length && !/[ \t]/.test(text.charAt(at))) {
    piece.lastIndex = at;
    const [raw, single, double, escaped, plain] = piece.exec(text) ?? [];
    if (raw === undefined) return fail("");
    if (double !== undefined && /(?<!\\)(?:\\\\)*[$`]/.test(double)) return fail("$");
    if (plain !== undefined && isSpecial(plain, at === start ? "" : text.charAt(at - 1))) return fail(plain);
    word += single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "";
    at += raw.length;
  }
  return { text: word, raw: text.slice(start, at) };
}

function isSpecial(character: string, before: string): boolean {
  if (special.test(character)) return true;
  return before === "" ? specialFirst.test(character) : character === "~" && /[=:]/.test(before);
}

export function isWords(read: readonly WrittenWord[] | ShellCharacter): read is readonly WrittenWord[] {
  return !("character" in read);
}

/** Leading assignments are variables. Undefined: there is no command behind them. */
export function simpleCommand(written: readonly WrittenWord[]): SimpleCommand | undefined {
  const first = written.findIndex(({ raw }) => !/^[A-Za-z_]\w*\+?=/.test(raw));
  if (first < 0) return undefined;
  const assignments = written.slice(0, first).map(({ text }): [string, string] => {
    const cut = text.indexOf("=");
    return [text.slice(0, cut), text.slice(cut + 1)];
  });
  // what it adds to is not known
  if (assignments.some(([name]) => name.endsWith("+"))) return undefined;
  return { env: Object.fromEntries(assignments), words: written.slice(first).map(({ text }) => text) };
}

/** A line that means the same with and without a shell, as a command in a directory. Undefined: a shell has to read it. */
export function readLine(line: string): (SimpleCommand & { readonly directory?: string }) | undefined {
  const [, directory, rest = line] = /^\s*cd[ \t]+([^&|;\r\n]+?)[ \t]*&&(?!&)([\s\S]*)$/.exec(line) ?? [];
  const command = readWords(rest);
  if (command === undefined || directory === undefined) return command;
  const [where = "", ...more] = readWords(`cd ${directory}`)?.words.slice(1) ?? [];
  return more.length === 0 && isSurePlace(where) ? { ...command, directory: where } : undefined;
}

function readWords(line: string): SimpleCommand | undefined {
  if (process.platform === "win32") {
    const words = line.split(" ").filter((word) => word !== "");
    return plainOnWindows.test(line) && words.length > 0 ? { env: {}, words } : undefined;
  }
  const written = writtenWords(line);
  return isWords(written) ? simpleCommand(written) : undefined;
}

/** A shell shortens `link/..` before it looks, and looks for a plain name in CDPATH first. */
function isSurePlace(directory: string): boolean {
  if (directory === "" || directory.startsWith("-") || directory.split(/[\\/]/).includes("..")) return false;
  return process.env["CDPATH"] === undefined || /^\.?\//.test(directory);
}

/** The same words as one text that is read as these words again, and that nobody can misread. */
export function joinWords(words: readonly string[]): string {
  return words.map((word, at) => (isPlain(word, at) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}

/** An assignment in front of a command is not a word of it. */
function isPlain(word: string, at: number): boolean {
  return /^[\w@+:,./-][\w@%+=:,./-]*$/.test(word) && !(at === 0 && word.includes("="));
}

/** `NAME=value` in front of a command. */
export function joinVariables(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value === "" ? "" : joinWords(["", value]).slice(3)} `)
    .join("");
}
