// Reads and matches one name of a path pattern: `*`, `?`, character classes and escapes.

/** A pattern that cannot be meant. The message says why, and what to write. */
export class PatternError extends Error {}

export interface NamePattern {
  /** The name, where it is just that. */
  readonly literal?: string;
  matches(name: string): boolean;
}

// Where names that differ in case mean the same file, a rule must not be got around by writing them differently.
const folds = process.platform === "darwin" || process.platform === "win32";

const piece = /\\([\s\S]?)|\[([!^]?)(\]?(?:\\[\s\S]|[^\]\\])*)(\]?)|([*?{}])|([^\\[*?{}]+)/gu;

export function namePattern(text: string): NamePattern {
  // what stands between the stars
  const parts = [""];
  let literal: string | undefined = "";
  for (const [, escaped, not = "", inside = "", end, special, plain] of text.matchAll(piece)) {
    const name = escaped ?? plain;
    if (escaped === "")
      throw new PatternError("a backslash at the end of a name escapes nothing; use / between folders");
    if (special === "{" || special === "}")
      throw new PatternError("{a,b} is not supported; write one rule for each, or \\{ for a literal {");
    if (special === "*") parts.push("");
    else if (name !== undefined)
      parts.push(`${parts.pop()}${name.normalize("NFC").replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}`);
    else parts.push(`${parts.pop()}${special === "?" ? "[\\s\\S]" : classOf(not, inside, end === "]")}`);
    literal = name === undefined || literal === undefined ? undefined : literal + name;
  }
  const found = parts.map((part, at) => {
    const whole = `${at === 0 ? "^" : ""}${part}${at === parts.length - 1 ? "$" : ""}`;
    return new RegExp(whole, folds ? "giu" : "gu");
  });
  return { ...(literal === undefined ? {} : { literal }), matches: (name) => followsIn(name, found) };
}

/** Each part behind the one before it, as early as it can be: there is nothing to go back for. */
function followsIn(name: string, parts: readonly RegExp[]): boolean {
  // letters that look the same may be written in two ways; a rule is about both
  const given = name.normalize("NFC");
  let at = 0;
  return parts.every((part) => {
    part.lastIndex = at;
    const isThere = part.test(given);
    at = part.lastIndex;
    return isThere;
  });
}

/** `[ab]`, `[a-z]`, `[!a]`. */
function classOf(not: string, inside: string, isClosed: boolean): string {
  if (!isClosed || inside === "")
    throw new PatternError("[ is not closed; write [ab] for one of these characters, or \\[ for a literal [");
  if (inside.includes("[:"))
    throw new PatternError("named classes are not supported; write the characters, such as [a-z]");
  const safe = inside.replaceAll(
    /\\([\s\S])|[\^[\]]/gu,
    (all, escaped?: string) => `\\u{${(escaped ?? all).codePointAt(0)?.toString(16)}}`,
  );
  const made = `[${not === "" ? "" : "^"}${safe}]`;
  try {
    return new RegExp(made, "u").source;
  } catch {
    throw new PatternError(
      `[${inside}] is not a valid range; write the smaller character first, such as [a-z]`,
    );
  }
}
