// Splits a command line that is the value of an option into its words, as a shell does, without a shell, and joins them again.

import { escapedLine } from "../terminal/sanitise.ts";
import { usageError } from "./command.ts";

/** Quotes group, a backslash takes the next character as it is. `what` is for the error. */
export function shellWords(line: string, what: string): string[] {
  const words: string[] = [];
  const word = /\s*((?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\\[\s\S]|[^\s"'\\])+)/y;
  let at = 0;
  for (; line.slice(at).trim() !== ""; at = word.lastIndex) {
    const found = word.exec(line);
    if (found === null)
      throw usageError(
        `${what}: a quote is not closed, or a \\ is the last character: ${escapedLine(line)}`,
        "close the quote, or write the words as a list in the config file",
      );
    words.push(unquoted(found[1] ?? ""));
  }
  return words;
}

function unquoted(word: string): string {
  const part = /"((?:\\[\s\S]|[^"\\])*)"|'([^']*)'|\\([\s\S])/g;
  return word.replaceAll(part, (_, double?: string, single?: string, escaped?: string) =>
    double === undefined ? (single ?? escaped ?? "") : double.replaceAll(/\\(["\\$`])/g, "$1"),
  );
}

/** One line that a shell reads as these words again. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quotedWord(word))).join(" ");
}

/** As one word for a shell. */
export function quotedWord(text: string): string {
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
