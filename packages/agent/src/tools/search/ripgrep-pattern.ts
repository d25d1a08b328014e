// Turns a regular expression of JavaScript into one of ripgrep that matches at least the same lines.

/**
 * One character of a text, whatever its bytes: our own search reads invalid bytes as a character too.
 */
const anything = "(?-u:[^\\n]{1,4})";
const digits = "[0-9]";
const wordCharacters = "[0-9A-Za-z_]";
const escapes: Readonly<Record<string, string>> = {
  d: digits,
  w: wordCharacters,
  s: "[\\s\\x{FEFF}]",
  D: anything,
  W: anything,
  S: anything,
  b: "(?-u:\\b)",
  B: "(?-u:\\B)",
  t: "\\t",
  f: "\\f",
  v: "\\v",
};

/** Undefined for what ripgrep does not have, such as a look behind, or has with another meaning. */
export function ripgrepPattern(source: string, isLiteral: boolean): string | undefined {
  // outside of the basic plane a character is one or two, by the flags of the expression
  if (/[\0\n\r\ud800-\udfff]/.test(source)) return undefined;
  if (isLiteral) return Array.from(source, escaped).join("");
  let result = "";
  for (let rest = source; rest !== ""; ) {
    const next = token(rest);
    if (next === undefined) return undefined;
    result += next.text;
    rest = rest.slice(next.length);
  }
  return result;
}

interface Token {
  readonly text: string;
  readonly length: number;
}

function token(rest: string): Token | undefined {
  const [character = ""] = rest;
  switch (character) {
    case "\\":
      return escapeToken(rest);
    case "[":
      return classToken(rest);
    case ".":
      return { text: anything, length: 1 };
    case "$":
      // our lines end before a carriage return
      return { text: "\\r?$", length: 1 };
    case "^":
    case ")":
    case "|":
    case "*":
    case "+":
    case "?":
      return { text: character, length: 1 };
    case "(":
      if (rest.startsWith("(?:")) return { text: "(?:", length: 3 };
      return rest[1] === "?" ? undefined : { text: "(?:", length: 1 };
    case "{": {
      const [counted] = /^\{\d+(?:,\d*)?\}/.exec(rest) ?? [];
      return counted === undefined ? { text: "\\{", length: 1 } : { text: counted, length: counted.length };
    }
    default:
      return { text: escaped(character), length: 1 };
  }
}

function escapeToken(rest: string): Token | undefined {
  const code = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(rest);
  if (code !== null) {
    const [whole, byte, unit] = code;
    const hex = byte ?? unit ?? "";
    // lone surrogates, and what ends a line
    return /^d[89a-f]|^0*[ad]$|^0+$/i.test(hex) ? undefined : { text: `\\x{${hex}}`, length: whole.length };
  }
  const name = rest[1] ?? "";
  if (Object.hasOwn(escapes, name)) return { text: escapes[name] ?? "", length: 2 };
  // other letters and digits have meanings of their own: groups, properties, line ends
  return /^[^\w\s]$/.test(name) ? { text: escaped(name), length: 2 } : undefined;
}

const sets: Readonly<Record<string, string>> = { d: "0-9", w: "0-9A-Za-z_", s: "\\s\\x{FEFF}" };

/** Only plain classes; one that names what it does not match may match anything. */
function classToken(rest: string): Token | undefined {
  const [whole, inner = ""] = /^\[((?:[^\]\\]|\\.)*)\]/.exec(rest) ?? [];
  if (whole === undefined || inner === "" || inner === "^") return undefined;
  if (inner.startsWith("^")) return { text: anything, length: whole.length };
  const members = Array.from(inner.matchAll(/\\.|[^\\]/g), ([piece]) => memberOf(piece));
  let text = "";
  for (let at = 0; at < members.length; at += 1) {
    const [member, dash, end] = members.slice(at, at + 3);
    if (member === undefined) return undefined;
    const isRange = dash?.isDash && end !== undefined && !member.isSet && !end.isSet;
    text += isRange ? `${member.text}-${end.text}` : member.text;
    if (isRange) at += 2;
  }
  return { text: `[${text}]`, length: whole.length };
}

interface Member {
  readonly text: string;
  readonly isSet?: boolean;
  /** Between two characters it makes a range. */
  readonly isDash?: boolean;
}

function memberOf(piece: string): Member | undefined {
  if (piece.length === 1) return { text: escaped(piece), isDash: piece === "-" };
  const name = piece[1] ?? "";
  if (Object.hasOwn(sets, name)) return { text: sets[name] ?? "", isSet: true };
  if (name === "t") return { text: "\\t" };
  return /^[^\w\s]$/.test(name) ? { text: escaped(name) } : undefined;
}

/** Other punctuation must not be escaped. */
function escaped(character: string): string {
  return /^[\\.+*?()|[\]{}^$#&~-]$/.test(character) ? `\\${character}` : character;
}
