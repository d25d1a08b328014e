// Reads and matches one name of a path pattern: `*`, `?`, character classes and escapes.

/** A pattern that cannot be meant. The message says why, and what to write. */
export class PatternError extends Error {}

export interface NamePattern {
  /** The name, where it is just that. */
  readonly literal?: string;
  plain(name: string): boolean;
  /** For a name in lower case. */
  folded(name: string): boolean;
}

/** One character of a name, or any number of them. */
type Piece = "*" | ((character: string) => boolean);

export function namePattern(text: string): NamePattern {
  const literal = literalOf(text);
  if (literal !== undefined) {
    const lower = literal.normalize("NFC").toLowerCase();
    return { literal, plain: (name) => name === literal, folded: (name) => name === lower };
  }
  const pieces = piecesOf(text);
  const lower = piecesOf(text.normalize("NFC").toLowerCase());
  return { plain: (name) => matches(pieces, name), folded: (name) => matches(lower, name) };
}

function literalOf(text: string): string | undefined {
  const plain = text.replaceAll(/\\([\s\S])/g, "");
  return /[*?[\]{}\\]/.test(plain) ? undefined : text.replaceAll(/\\([\s\S])/g, "$1");
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  const characters = [...text];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? "";
    if (character === "*") pieces.push("*");
    else if (character === "?") pieces.push(() => true);
    else if (character === "[") {
      const { test, end } = classAt(characters, at);
      pieces.push(test);
      at = end;
    } else if (character === "{" || character === "}") {
      throw new PatternError(
        "{a,b} stands for nothing; write one rule for each, or \\{ for a name that has one",
      );
    } else {
      if (character === "\\" && at + 1 >= characters.length)
        throw new PatternError("a backslash at the end escapes nothing; folders are separated by /");
      const same = character === "\\" ? characters[++at] : character;
      pieces.push((other) => other === same);
    }
  }
  return pieces;
}

/** `[ab]`, `[a-z]`, `[!a]`. */
function classAt(
  characters: readonly string[],
  start: number,
): { readonly test: (character: string) => boolean; readonly end: number } {
  let at = start + 1;
  const isNot = characters[at] === "!" || characters[at] === "^";
  if (isNot) at++;
  const ranges: [string, string][] = [];
  for (let isFirst = true; characters[at] !== "]" || isFirst; at++, isFirst = false) {
    const one = characters[at] === "\\" ? characters[++at] : characters[at];
    if (one === undefined)
      throw new PatternError(
        "a [ has no end; write [ab] for one of these characters, or \\[ for a name that has one",
      );
    if (one === "[" && characters[at + 1] === ":")
      throw new PatternError("classes by name are not known; write the characters, such as [a-z]");
    const isRange =
      characters[at + 1] === "-" && characters[at + 2] !== undefined && characters[at + 2] !== "]";
    const last = isRange ? (characters[at + 2] ?? one) : one;
    if (last < one) throw new PatternError(`[${one}-${last}] stands for nothing; write [${last}-${one}]`);
    ranges.push([one, last]);
    if (isRange) at += 2;
  }
  const isIn = (character: string) => ranges.some(([first, last]) => first <= character && character <= last);
  return { test: (character) => isIn(character) !== isNot, end: at };
}

function matches(pieces: readonly Piece[], name: string): boolean {
  const characters = [...name];
  let [at, from, star, restart] = [0, 0, -1, 0];
  while (at < characters.length) {
    const piece = pieces[from];
    if (piece !== undefined && piece !== "*" && piece(characters[at] ?? "")) {
      from++;
      at++;
    } else if (piece === "*") {
      star = from++;
      restart = at;
    } else if (star >= 0) {
      from = star + 1;
      at = ++restart;
    } else return false;
  }
  while (pieces[from] === "*") from++;
  return from === pieces.length;
}
