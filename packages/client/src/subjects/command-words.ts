// Splits and joins the words of commands and shell lines.

/** Splits as a shell would, without doing anything else a shell does: quotes and backslashes count. */
export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "'" || character === '"') {
      const end = closingQuote(text, at);
      if (end < 0) return undefined;
      const inside = text.slice(at + 1, end);
      word = (word ?? "") + (character === "'" ? inside : inside.replaceAll(/\\(["\\$`])/g, "$1"));
      at = end;
    } else if (character === "\\") {
      if (at + 1 >= text.length) return undefined;
      word = (word ?? "") + text.charAt(++at);
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}

function closingQuote(text: string, at: number): number {
  const quote = text.charAt(at);
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === "\\" && quote === '"') end++;
    else if (text[end] === quote) return end;
  }
  return -1;
}

/** The same words as one text that `splitWords` takes apart again, and that nobody can misread. */
export function joinWords(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}

/** A line of plain words, which means the same with and without a shell. Undefined: a shell has to read it. */
export function plainWords(line: string): string[] | undefined {
  if (/[|&;<>()$`\\"'*?[\]#~=%{}!\r\n]/.test(line)) return undefined;
  const words = line.split(/[ \t]+/).filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}

/**
 * The commands in a line, as far as they can be told without running it: what stands between operators, in
 * substitutions and behind `then`, `do` and the like. For rules that forbid; far too little for one that allows.
 */
export function commandsInLine(line: string): string[][] {
  const whole = line.replaceAll(/\\\r?\n/g, " ");
  // a redirection may stand in front of a command; what looks like one may be in quotes, so it counts with and without
  const bare = whole
    .replaceAll(/\d{0,9}[<>]&[\d-]*/g, " ")
    .replaceAll(/&?\d{0,9}(?:<<<|<<-?|>>|>\||<>|>|<)(?!\()\s*(?:'[^']*'|"[^"]*"|[^\s;|&()<>`'"]+)/g, " ");
  return [...pieces(whole), ...(bare === whole ? [] : pieces(bare))];
}

function pieces(line: string): string[][] {
  return line
    .split(/[;|&\r\n(){}`]|\$\(|<\(|>\(/)
    .map((piece) => splitWords(piece) ?? piece.split(/\s+/))
    .map((words) => words.filter((word) => word !== ""))
    .map((words) => words.slice(words.findIndex((word) => !isPreamble(word))))
    .filter((words) => words.length > 0);
}

const reserved = new Set(["then", "do", "else", "elif", "if", "while", "until", "!"]);

function isPreamble(word: string): boolean {
  return reserved.has(word) || /^\w+=/.test(word);
}
