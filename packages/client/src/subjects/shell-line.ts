// Takes a shell line apart into the commands in it, for rules that forbid. Far too little for one that allows.

/** One command of a line. */
export interface LineCommand {
  /** Without quotes. An expansion stays as it is written, such as `$X`. */
  readonly words: readonly string[];
  /** The files that it is redirected to or from. */
  readonly files: readonly string[];
  /** The text of its here-documents. */
  readonly texts: readonly string[];
  /** It may be a command, since it stands where one may stand. */
  readonly isGuess?: boolean;
}

/** Deeper nested lines are not taken apart. */
const maxDepth = 20;

const token =
  /\\[\s\S]|'[^']*'|\$'(?:[^'\\]|\\[\s\S])*'|["`)]|[$<>]?\(|\d*(?:<<<|<<-?|<>|>>|>\||[<>]&|[<>])|&>>?|[;|&\n]|[ \t\r]+|[^\\'"`$()<>;|&\s#]+|[\s\S]/y;
const quotedToken = /\\[\s\S]|["`]|\$\(|[^\\"`$]+|[\s\S]/y;

/** What is open: a bracket or a quote, and the command in it. */
interface Frame {
  readonly end: "" | ")" | "`" | '"';
  command: { readonly words: string[]; readonly files: string[]; readonly texts: string[] };
  word: string | undefined;
  /** What the next word is: one of the command, a file, or the end mark of a here-document. */
  next: "word" | "file" | "mark";
  /** Here-documents whose text begins on the next line. */
  marks: { readonly mark: string; readonly texts: string[] }[];
}

/** All commands, also those in substitutions. Undefined: a quote or a bracket has no end, or it is nested too deeply. */
export function commandsInLine(line: string): LineCommand[] | undefined {
  const found: LineCommand[] = [];
  const frames = [opened("")];
  for (let at = 0; at < line.length; ) {
    const frame = frames.at(-1);
    if (frame === undefined || frames.length > maxDepth) return undefined;
    const text = tokenAt(frame.end === '"' ? quotedToken : token, line, at);
    at += text.length;
    // a quote or a backslash without an end, or a backquote in backquotes, which begins or ends further ones
    const isOpenEnd = text === "\\" || (text === "'" && frame.end !== '"');
    if (isOpenEnd || (/^\\?`$/.test(text) && text !== frame.end && frames.some(({ end }) => end === "`")))
      return undefined;
    if (text === "\n" && frame.end !== '"') {
      endCommand(frame, found);
      at = textsFrom(line, at, frame, found);
    } else if (text === "#" && frame.word === undefined && frame.end !== '"') at = lineEnd(line, at);
    else if (!enter(text, frames, found)) read(text, frame, found);
  }
  for (const frame of frames) endCommand(frame, found);
  return frames.length > 1 ? undefined : found;
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
  else if (/^\s/.test(text)) endWord(frame);
  else if (/[<>]/.test(text)) {
    endWord(frame);
    frame.next = /<<-?$/.test(text) ? "mark" : "file";
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

/** Of `'x'`, and of `$'x'`, whose escapes only the shell knows. */
function unquoted(text: string): string {
  return text.startsWith("$") && text.includes("\\") ? "$''" : text.replace(/^\$/, "").slice(1, -1);
}

function endWord(frame: Frame): void {
  const { word, next, command } = frame;
  if (word === undefined) return;
  if (next === "mark") frame.marks.push({ mark: word, texts: command.texts });
  else (next === "word" ? command.words : command.files).push(word);
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
  if (named.length > 0 || files.length > 0) found.push({ words: named, files, texts });
  frame.command = { words: [], files: [], texts: [] };
}

/** Takes here-documents, each up to its end mark, and returns where they end. What they hold is run where a shell reads it. */
function textsFrom(line: string, start: number, frame: Frame, found: LineCommand[]): number {
  let at = start;
  for (const { mark, texts } of frame.marks.splice(0)) {
    let end = at;
    while (end < line.length && line.slice(end, lineEnd(line, end)).replace(/^\t+/, "") !== mark)
      end = lineEnd(line, end) + 1;
    const body = line.slice(at, end);
    texts.push(body);
    for (const [, one, other] of body.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g))
      found.push(...(commandsInLine(one ?? other ?? "") ?? []));
    at = Math.min(line.length, lineEnd(line, end));
  }
  return at;
}

function lineEnd(line: string, at: number): number {
  const end = line.indexOf("\n", at);
  return end < 0 ? line.length : end;
}
