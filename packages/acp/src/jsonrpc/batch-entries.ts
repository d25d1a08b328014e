// Splits the text of a batch into the texts of its entries.

import { endOfString } from "./json-string.ts";

const quote = 0x22;
const comma = 0x2c;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBrace = 0x7d;
const closeBracket = 0x5d;

/** Expects the text of a JSON array that has already been parsed, and is therefore well-formed. */
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
