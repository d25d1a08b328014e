// Finds the source text of one member of a JSON object by one scan; JSON.parse with a reviver is far slower.

import { endOfString } from "./json-string.ts";

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = "\\";
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The text of the value of `key` at the root of an object that has already been parsed, and is therefore
 * well-formed. The last of several members with that name counts, as with JSON.parse.
 */
export function memberText(text: string, key: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  /** Start of the value if it belongs to `key`, else -1. */
  let from = -1;
  let name = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      const end = endOfString(text, i);
      if (depth === 1 && from === -1) name = text.slice(i + 1, end);
      i = end;
    } else if (code === openBrace || code === openBracket) depth++;
    else if (code === colon) {
      if (depth === 1 && isNamed(name, key)) from = i + 1;
    } else if (code === comma || code === closeBrace || code === closeBracket) {
      if (depth === 1 && from !== -1) {
        found = text.slice(from, i).trim();
        from = -1;
      }
      if (code !== comma) depth--;
    }
  }
  return found;
}

/** `name` is source text: any of its letters may be escaped. */
function isNamed(name: string, key: string): boolean {
  if (name === key) return true;
  if (name.length > 6 * key.length || !name.includes(backslash)) return false;
  return JSON.parse(`"${name}"`) === key;
}
