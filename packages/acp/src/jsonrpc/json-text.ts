// Finds parts of JSON source text by one scan; JSON.parse with a reviver is far slower.

/** The index of the quote that ends the string that begins at `start`, or the text's length. */
export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote;
  }
  return text.length;
}

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
  eachMember(text, key, (from, to) => {
    found = text.slice(from, to).trim();
  });
  return found;
}

/** The same object with another value in every member named `key`, and all else as it was written. */
export function withMember(text: string, key: string, value: string): string {
  let changed = "";
  let rest = 0;
  eachMember(text, key, (from, to) => {
    changed += text.slice(rest, from) + value;
    rest = to;
  });
  return changed + text.slice(rest);
}

/** Calls `found` with the place of the value of each member named `key` at the root. */
function eachMember(text: string, key: string, found: (from: number, to: number) => void): void {
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
        found(from, i);
        from = -1;
      }
      if (code !== comma) depth--;
    }
  }
}

/** `name` is source text: any of its letters may be escaped. */
function isNamed(name: string, key: string): boolean {
  if (name === key) return true;
  if (name.length > 6 * key.length || !name.includes(backslash)) return false;
  return JSON.parse(`"${name}"`) === key;
}

/** The index of the brace that closes the object at the beginning of the text, or the text's length. */
export function endOfObject(text: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = endOfString(text, i);
    else if (code === openBrace) depth++;
    else if (code === closeBrace && --depth === 0) return i;
  }
  return text.length;
}

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

/** Whether JSON.stringify would leave this out, so that the answer would have no result. */
export function vanishes(value: unknown): boolean {
  if (typeof value === "object" && value !== null) {
    const { toJSON } = value as { toJSON?: unknown };
    return typeof toJSON === "function" && JSON.stringify(value) === undefined;
  }
  return typeof value === "function" || typeof value === "symbol";
}
