// Recognises text that is not JSON by its first tokens, because an exception of JSON.parse is expensive.

import { endOfString } from "../jsonrpc/json-text.ts";

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** False only for text that JSON.parse would refuse, such as `[INFO] starting`. True does not mean valid. */
export function beginsLikeJson(text: string): boolean {
  const first = afterBlanks(text, 0);
  switch (text[first]) {
    case "{": {
      const next = afterBlanks(text, first + 1);
      return text[next] === '"' || (text[next] === "}" && isBlank(text, next + 1));
    }
    case "[":
      return arrayBegins(text, afterBlanks(text, first + 1));
    default: {
      const end = endOfScalar(text, first);
      return end !== -1 && isBlank(text, end);
    }
  }
}

/** Whether a first item or the end of an empty array is at `first`. */
function arrayBegins(text: string, first: number): boolean {
  if (text[first] === "{" || text[first] === "[") return true;
  if (text[first] === "]") return isBlank(text, first + 1);
  const end = endOfScalar(text, first);
  if (end === -1) return false;
  const next = afterBlanks(text, end);
  return text[next] === "," || (text[next] === "]" && isBlank(text, next + 1));
}

/** The end of the string, number or keyword at `start`, or -1. */
function endOfScalar(text: string, start: number): number {
  switch (text[start]) {
    case '"': {
      const end = endOfString(text, start);
      return end === text.length ? -1 : end + 1;
    }
    case "t":
      return text.startsWith("true", start) ? start + 4 : -1;
    case "f":
      return text.startsWith("false", start) ? start + 5 : -1;
    case "n":
      return text.startsWith("null", start) ? start + 4 : -1;
    default:
      number.lastIndex = start;
      return number.test(text) ? number.lastIndex : -1;
  }
}

function isBlank(text: string, from: number): boolean {
  return afterBlanks(text, from) === text.length;
}

/** Skips JSON whitespace, and vertical tab and form feed, which JSON.parse refuses later. */
function afterBlanks(text: string, from: number): number {
  let i = from;
  for (let code = text.charCodeAt(i); code === 0x20 || (code >= 0x09 && code <= 0x0d); ) {
    code = text.charCodeAt(++i);
  }
  return i;
}
