// The source text of each entry of a batch, so that an entry is handled exactly like a message that
// came alone: its ids digit for digit, and for a handler the text of its own message, not of the array.

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBrace = 0x7d;
const closeBracket = 0x5d;

/** Splits the text of a JSON array that has been parsed already, so it is known to be well-formed. */
export function batchEntryTexts(text: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = endOfString(text, i);
    else if (code === openBrace || code === openBracket) {
      if (++depth === 1) from = i + 1;
    } else if (code === closeBrace || code === closeBracket) {
      if (--depth === 0) texts.push(text.slice(from, i).trim());
    } else if (code === comma && depth === 1) {
      texts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  return texts;
}

/** The index of the quote that ends the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (text.charCodeAt(i) !== quote) i += text.charCodeAt(i) === backslash ? 2 : 1;
  return i;
}
