// Takes a shell line apart into the commands in it, for rules that forbid. Far too little for one that allows.

/** One command of a line. */
export interface LineCommand {
  /** Without quotes. An expansion stays as it is written, such as `$X`. */
  readonly words: readonly string[];
  /** The files that it is redirected to or from. */
  readonly files: readonly string[];
  /** The text of its here-documents and here-strings. */
  readonly texts: readonly string[];
  /** It may be a command, since it stands where one may stand. */
  readonly isGuess?: boolean;
}

/** Deeper nested lines are not taken apart. */
const maxDepth = 20;
const maxBraces = 500;

const token =
  /\\[\s\S]|'[^']*'|\$'(?:[^'\\]|\\[\s\S])*'|["`)]|[$<>]?\(|\d*(?:<<<|<<-?|<>|>>|>\||[<>]&|[<>])|&>>?|[;|&\n]|[ \t]+|[^\\'"`$()<>;|&\n \t#]+|[\s\S]/y;
const quotedToken = /\\[\s\S]|["`]|\$\(|[^\\"`$]+|[\s\S]/y;

/** What is open: a bracket or a quote, and the command in it. */
interface Frame {
  readonly end: "" | ")" | "`" | '"';
  command: { readonly words: string[]; readonly files: string[]; readonly texts: string[] };
  word: string | undefined;
  /** What the next word is: one of the command, a file, or a here-string. */
  next: "word" | "file" | "text";
  /** Here-documents whose text begins on the next line. */
  readonly marks: Document[];
}

interface Document {
  readonly mark: string;
  readonly texts: string[];
  /** `<<-`: tabs in front of its lines do not count. */
  readonly hasTabs: boolean;
  /** The shell changes nothing in it. */
  readonly isQuoted: boolean;
}

/** An end mark that every shell reads alike. */
const plainMark = /[ \t]*(?:(['"])([\w.-]+)\1|\\([\w.-]+)|([\w.-]+))(?=[ \t\n;|&<>()]|$)/y;
/** What may make `<<` a part of a calculation. */
const calculates = /\(\(|\[|\$\{/;
/** Shells do not agree where quotes in braces end. */
const quoteInBraces = /\{[^}]*['"`\\]/y;

/**
 * All commands, also those in substitutions. Undefined: a quote or a bracket has no end, it is nested too deeply, or shells
 * may read it in another way.
 */
export function commandsInLine(line: string): LineCommand[] | undefined {
  const found: LineCommand[] = [];
  const frames = [opened("")];
  const first = line.search(calculates);
  const calculation = first < 0 ? line.length : first;
  // each costs a look at what follows
  if (line.split("${").length > maxBraces) return undefined;
  for (let at = 0; at < line.length; ) {
    const frame = frames.at(-1);
    if (frame === undefined || frames.length > maxDepth) return undefined;
    const isQuoted = frame.end === '"';
    const text = tokenAt(isQuoted ? quotedToken : token, line, at);
    at += text.length;
    if (isUnclear(text, frames) || (text === "$" && tokenAt(quoteInBraces, line, at) !== ""))
      return undefined;
    const isDocument = !isQuoted && /^\d*<<-?$/.test(text);
    if (isDocument || (text === "\n" && !isQuoted)) {
      const next = isDocument
        ? begun(line, at, frame, text, calculation > at)
        : textsFrom(line, at, frame, found);
      if (next === undefined) return undefined;
      at = next;
    } else if (text === "#" && frame.word === undefined && !isQuoted) at = lineEnd(line, at);
    else if (!enter(text, frames, found)) read(text, frame, found);
  }
  for (const frame of frames) endCommand(frame, found);
  return frames.length > 1 ? undefined : found;
}

/** Something has no end here, or shells do not agree on where it is. */
function isUnclear(text: string, frames: readonly Frame[]): boolean {
  const [frame = opened("")] = frames.slice(-1);
  const { end, marks } = frame;
  if (text === "\\" || (text === "'" && end !== '"')) return true;
  // in backquotes a backslash means something else, and a backquote begins or ends further ones
  const isInBackquotes = frames.some((each) => each.end === "`");
  if (isInBackquotes && (text.startsWith("\\") || (text === "`" && end !== "`"))) return true;
  // the texts of all here-documents begin on the next line, whatever brackets are open
  if (end === '"' || (text !== "\n" && text !== end)) return false;
  const pending = frames.filter((each) => each.marks.length > 0);
  return text === "\n" ? pending.some((each) => each.marks !== marks) : marks.length > 0;
}

/** Takes the end mark of a here-document and returns where it ends. Undefined: shells may not read it alike. */
function begun(
  line: string,
  at: number,
  frame: Frame,
  operator: string,
  mayBegin: boolean,
): number | undefined {
  const raw = mayBegin ? tokenAt(plainMark, line, at) : "";
  if (raw === "") return undefined;
  endWord(frame);
  const mark = raw.trim().replaceAll(/['"\\]/g, "");
  const { texts } = frame.command;
  frame.marks.push({ mark, texts, hasTabs: operator.endsWith("-"), isQuoted: mark !== raw.trim() });
  return at + raw.length;
}

/** What opens or closes a bracket or a quote. False: it does neither. */
function enter(text: string, frames: Frame[], found: LineCommand[]): boolean {
  const [frame = opened("")] = frames.slice(-1);
  if (text === frame.end) {
    frames.pop();
    const [outer = frame] = frames.slice(-1);
    // what is in quotes belongs to the word that they stand in
    if (text === '"') outer.word = frame.word;
    else endCommand(frame, found);
    return true;
  }
  if (text === "(") endCommand(frame, found);
  else if (text === '"') addTo(frame, "");
  else if (text === "`" || /^[$<>]\($/.test(text)) addTo(frame, "$()");
  else return false;
  frames.push(text === '"' ? { ...frame, end: text } : opened(text === "`" ? text : ")"));
  return true;
}

function read(text: string, frame: Frame, found: LineCommand[]): void {
  const isQuoted = frame.end === '"';
  if (text === "\\\n") return;
  if (text.startsWith("\\")) addTo(frame, isQuoted && !/^\\["\\$`]$/.test(text) ? text : text.slice(1));
  else if (isQuoted) addTo(frame, text);
  else if (text.endsWith("'")) addTo(frame, unquoted(text));
  else if (/^[ \t]/.test(text)) endWord(frame);
  else if (/[<>]/.test(text)) {
    endWord(frame);
    frame.next = text.endsWith("<<<") ? "text" : "file";
  } else if (/^[;|&)]$/.test(text)) endCommand(frame, found);
  else addTo(frame, text);
}

function opened(end: Frame["end"]): Frame {
  return { end, command: { words: [], files: [], texts: [] }, word: undefined, next: "word", marks: [] };
}

function tokenAt(wanted: RegExp, line: string, at: number): string {
  wanted.lastIndex = at;
  return wanted.exec(line)?.[0] ?? "";
}

function addTo(frame: Frame, text: string): void {
  frame.word = (frame.word ?? "") + text;
}

/** Of `'x'`, and of `$'x'`, which has escapes. */
function unquoted(text: string): string {
  if (!text.startsWith("$")) return text.slice(1, -1);
  const inside = text.slice(2, -1);
  // others only the shell knows
  if (inside.replaceAll(escaped, "").includes("\\")) return "$''";
  return inside.replaceAll(escaped, (all, hex?: string, octal?: string) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex.slice(1), 16));
    return octal === undefined ? all.slice(1) : String.fromCodePoint(Number.parseInt(octal, 8) % 256);
  });
}

const escaped = /\\(?:(x[\da-fA-F]{1,2}|u[\da-fA-F]{1,4})|([0-7]{1,3})|['"\\?])/g;

function endWord(frame: Frame): void {
  const { word, next, command } = frame;
  if (word === undefined) return;
  const into = { word: command.words, file: command.files, text: command.texts };
  into[next].push(word);
  frame.word = undefined;
  frame.next = "word";
}

const preamble = /^(?:then|do|else|elif|if|while|until|!|\{|\}|\w+\+?=[\s\S]*)$/;

function endCommand(frame: Frame, found: LineCommand[]): void {
  endWord(frame);
  const { words, files, texts } = frame.command;
  const from = words.findIndex((word) => !preamble.test(word));
  const rest = from < 0 ? [] : words.slice(from);
  const named = rest[0] === "function" ? rest.slice(rest[2] === "{" ? 3 : 2) : rest;
  // what a variable is set to may be the name of a file
  const set = words.slice(0, from < 0 ? words.length : from).filter((word) => word.includes("="));
  if (named.length + files.length + set.length > 0)
    found.push({ words: named, files: [...files, ...set], texts });
  frame.command = { words: [], files: [], texts: [] };
}

/**
 * Takes here-documents, each up to its end mark, and returns where they end. What they hold is run where a shell reads it.
 * Undefined: only the shell knows where it ends, or what it runs to write it.
 */
function textsFrom(line: string, start: number, frame: Frame, found: LineCommand[]): number | undefined {
  endCommand(frame, found);
  let at = start;
  for (const { mark, texts, hasTabs, isQuoted } of frame.marks.splice(0)) {
    let end = at;
    const isMark = (text: string) => (hasTabs ? text.replace(/^\t+/, "") : text) === mark;
    while (end < line.length && !isMark(line.slice(end, lineEnd(line, end)))) end = lineEnd(line, end) + 1;
    const body = line.slice(at, end);
    texts.push(body);
    if (!isQuoted) {
      const rest = body.replaceAll(simpleSubstitution, "");
      if (/\\\n|`|\$\(|\$\{[^}]*$/.test(rest)) return undefined;
      for (const [, one, other] of body.matchAll(simpleSubstitution)) {
        const inner = commandsInLine(one ?? other ?? "");
        if (inner === undefined) return undefined;
        found.push(...inner);
      }
    }
    at = Math.min(line.length, lineEnd(line, end));
  }
  return at;
}

const simpleSubstitution = /\$\(([^()'"`\\]*)\)|`([^`'"\\]*)`/g;

function lineEnd(line: string, at: number): number {
  const end = line.indexOf("\n", at);
  return end < 0 ? line.length : end;
}
