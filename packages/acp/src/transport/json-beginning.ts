// Tells noise from JSON by its first tokens. JSON.parse throws an error with a stack for `[INFO] starting` or
// `2026-11-15 10:00:00 ready`, which costs hundreds of times what a good message does.

import { endOfString } from "../jsonrpc/json-string.ts";

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** False only for what JSON.parse would refuse; what passes may still be broken further on. */
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

/** Whether the first item, or the end of an array without items, can be at `first`. */
function arrayBegins(text: string, first: number): boolean {
  if (text[first] === "{" || text[first] === "[") return true;
  if (text[first] === "]") return isBlank(text, first + 1);
  const end = endOfScalar(text, first);
  if (end === -1) return false;
  const next = afterBlanks(text, end);
  return text[next] === "," || (text[next] === "]" && isBlank(text, next + 1));
}

/** Where the string, number or word at `start` ends; -1 when there is none. */
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

/** Skips what JSON calls blank, and the two other controls between tab and return, which JSON.parse then refuses. */
function afterBlanks(text: string, from: number): number {
  let i = from;
  for (let code = text.charCodeAt(i); code === 0x20 || (code >= 0x09 && code <= 0x0d); ) {
    code = text.charCodeAt(++i);
  }
  return i;
}
