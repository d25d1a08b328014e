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

/** All commands, also those in substitutions. Undefined: a quote or a bracket has no end, or it is nested too deeply. */
export function commandsInLine(line: string): LineCommand[] | undefined {
  const found: LineCommand[] = [];
  const splitter = new Splitter(line, found, 0);
  return splitter.split(undefined) ? found : undefined;
}

interface Open {
  readonly words: string[];
  readonly files: string[];
  readonly texts: string[];
  word: string | undefined;
  /** The next word is the file of a redirection, or the end mark of a here-document. */
  next: "word" | "file" | "mark";
}

class Splitter {
  readonly #text: string;
  readonly #found: LineCommand[];
  readonly #depth: number;
  #at = 0;
  /** Here-documents whose text begins on the next line. */
  #marks: { readonly mark: string; readonly texts: string[] }[] = [];
  #open: Open = opened();

  constructor(text: string, found: LineCommand[], depth: number) {
    this.#text = text;
    this.#found = found;
    this.#depth = depth;
  }

  /** False: it cannot be taken apart. */
  split(end: ")" | undefined): boolean {
    if (this.#depth > maxDepth) return false;
    const outer = this.#open;
    this.#open = opened();
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text.charAt(this.#at);
      if (character === ")" && end === ")") {
        this.#endCommand();
        this.#open = outer;
        return true;
      }
      if (!this.#read(character)) return false;
    }
    this.#endCommand();
    this.#open = outer;
    return end === undefined;
  }

  #read(character: string): boolean {
    switch (character) {
      case "'":
        return this.#quoted(this.#text.indexOf("'", this.#at + 1));
      case '"':
        return this.#doubleQuoted();
      case "\\": {
        const next = this.#text.charAt(++this.#at);
        if (next !== "\n") this.#add(next);
        return next !== "";
      }
      case "`":
        return this.#backquoted();
      case "$":
        return this.#expansion();
      case " ":
      case "\t":
      case "\r":
        this.#endWord();
        return true;
      case "\n":
        this.#endCommand();
        this.#takeTexts();
        return true;
      case ";":
      case "|":
      case "&":
        // `&>file` and `>&file` are one redirection
        if (character === "&" && this.#text.charAt(this.#at + 1) === ">") return true;
        this.#endCommand();
        return true;
      case "(":
        this.#endCommand();
        return this.#nested();
      // of a `case`, or without a beginning
      case ")":
        this.#endCommand();
        return true;
      case "<":
      case ">":
        return this.#redirection(character);
      case "#":
        if (this.#open.word !== undefined) break;
        while (this.#at + 1 < this.#text.length && this.#text.charAt(this.#at + 1) !== "\n") this.#at++;
        return true;
    }
    this.#add(character);
    return true;
  }

  #add(text: string): void {
    this.#open.word = (this.#open.word ?? "") + text;
  }

  #quoted(end: number): boolean {
    if (end < 0) return false;
    this.#add(this.#text.slice(this.#at + 1, end));
    this.#at = end;
    return true;
  }

  #doubleQuoted(): boolean {
    this.#add("");
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const character = this.#text.charAt(this.#at);
      if (character === '"') return true;
      if (character === "\\") {
        const next = this.#text.charAt(++this.#at);
        this.#add(/["\\$`]/.test(next) ? next : `\\${next}`);
      } else if (character === "`") {
        if (!this.#backquoted()) return false;
      } else if (character === "$") {
        if (!this.#expansion(false)) return false;
      } else this.#add(character);
    }
    return false;
  }

  #backquoted(): boolean {
    let inside = "";
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const character = this.#text.charAt(this.#at);
      if (character === "`") {
        this.#add("$()");
        return new Splitter(inside, this.#found, this.#depth + 1).split(undefined);
      }
      inside += character === "\\" ? this.#text.charAt(++this.#at) : character;
    }
    return false;
  }

  /** `$(…)` has commands in it, `$'…'` other escapes; of `$X` and `${X}` nobody knows the value. */
  #expansion(mayQuote = true): boolean {
    const next = this.#text.charAt(this.#at + 1);
    if (next === "(") {
      this.#at++;
      this.#add("$()");
      return this.#nested();
    }
    if (mayQuote && next === '"') return true;
    if (mayQuote && next === "'") {
      const [inside] = /^(?:[^'\\]|\\[\s\S])*/.exec(this.#text.slice(this.#at + 2)) ?? [""];
      this.#add(inside.includes("\\") ? "$''" : inside);
      this.#at += 2 + inside.length;
      return this.#text.charAt(this.#at) === "'";
    }
    this.#add("$");
    return true;
  }

  /** From an opening bracket to the one that closes it. */
  #nested(): boolean {
    const inner = new Splitter(this.#text, this.#found, this.#depth + 1);
    inner.#at = this.#at + 1;
    const isWhole = inner.split(")");
    this.#at = inner.#at;
    return isWhole;
  }

  #redirection(character: string): boolean {
    const open = this.#open;
    // a number in front of it is that of the file
    if (/^\d+$/.test(open.word ?? "")) open.word = undefined;
    this.#endWord();
    const [sign = character] = /^(?:<<<|<<-?|<>|>>|>\||[<>]&|[<>])/.exec(this.#text.slice(this.#at)) ?? [];
    this.#at += sign.length - 1;
    if (this.#text.charAt(this.#at + 1) === "(") {
      this.#at++;
      this.#add("$()");
      return this.#nested();
    }
    open.next = /^<<-?$/.test(sign) ? "mark" : "file";
    return true;
  }

  #endWord(): void {
    const open = this.#open;
    const { word } = open;
    if (word === undefined) return;
    if (open.next === "word") open.words.push(word);
    else if (open.next === "file") open.files.push(word);
    else this.#marks.push({ mark: word, texts: open.texts });
    open.word = undefined;
    open.next = "word";
  }

  #endCommand(): void {
    this.#endWord();
    const { words, files, texts } = this.#open;
    const from = words.findIndex((word) => !isPreamble(word));
    const rest = from < 0 ? [] : words.slice(from);
    const named = rest[0] === "function" ? rest.slice(rest[2] === "{" ? 3 : 2) : rest;
    if (named.length > 0 || files.length > 0) this.#found.push({ words: named, files, texts });
    this.#open = opened();
  }

  /** Up to the end mark, or to the end of all. What they hold is run where a shell reads it. */
  #takeTexts(): void {
    for (const { mark, texts } of this.#marks.splice(0)) {
      const start = this.#at + 1;
      let end = start;
      for (let line = this.#lineAt(end); line !== undefined; line = this.#lineAt(end)) {
        if (line.replace(/^\t+/, "") === mark) break;
        end += line.length + 1;
      }
      const body = this.#text.slice(start, end);
      texts.push(body);
      for (const inner of substitutionsIn(body)) {
        // what is not whole is text
        const found: LineCommand[] = [];
        if (new Splitter(inner, found, this.#depth + 1).split(undefined)) this.#found.push(...found);
      }
      this.#at = end + (this.#lineAt(end)?.length ?? 0);
    }
  }

  #lineAt(start: number): string | undefined {
    if (start >= this.#text.length) return undefined;
    const end = this.#text.indexOf("\n", start);
    return this.#text.slice(start, end < 0 ? undefined : end);
  }
}

function opened(): Open {
  return { words: [], files: [], texts: [], word: undefined, next: "word" };
}

const reserved = new Set(["then", "do", "else", "elif", "if", "while", "until", "!", "{", "}"]);

function isPreamble(word: string): boolean {
  return reserved.has(word) || /^\w+\+?=/.test(word);
}

function substitutionsIn(body: string): string[] {
  return [...body.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g)].map(([, one, other]) => one ?? other ?? "");
}
