// JSON as people write it: with comments and a comma too many. Not JSON.parse on a cleaned text: its messages repeat a
// piece of the text, and the text may hold a key.

export class SyntaxFailure extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, at: number) {
    super(message);
    const before = text.slice(0, at).split("\n");
    this.line = before.length;
    this.column = (before.at(-1)?.length ?? 0) + 1;
  }
}

const maxDepth = 64;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const string = /"(?:[^"\\\n\r]|\\.)*"/y;
const word = /true|false|null/y;
const space = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

/** Throws SyntaxFailure with the place. */
export function parseJsonWithComments(text: string): unknown {
  const reader = new Reader(text.replace(/^\uFEFF/, " "));
  const value = reader.value(0);
  reader.end();
  return value;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skip();
  }

  value(depth: number): unknown {
    if (depth > maxDepth) throw this.#failure("it is nested too deeply");
    const first = this.#text[this.#at];
    if (first === "{") return this.#object(depth + 1);
    if (first === "[") return this.#array(depth + 1);
    if (first === '"') return this.#string();
    const token = this.#match(number) ?? this.#match(word);
    if (token === undefined) throw this.#failure("a value is wanted here");
    this.#skip();
    return JSON.parse(token);
  }

  end(): void {
    if (this.#at < this.#text.length) throw this.#failure("nothing more is wanted after the value");
  }

  #object(depth: number): unknown {
    const entries = new Map<string, unknown>();
    this.#take("{");
    while (this.#text[this.#at] !== "}") {
      const start = this.#at;
      if (this.#text[start] !== '"') throw this.#failure('a name in quotes or "}" is wanted here');
      const name = this.#string();
      if (entries.has(name)) throw this.#failure("this name is there twice", start);
      if (this.#text[this.#at] !== ":") throw this.#failure('":" is wanted here');
      this.#take(":");
      entries.set(name, this.value(depth));
      if (this.#text[this.#at] === ",") this.#take(",");
      else if (this.#text[this.#at] !== "}") throw this.#failure('"," or "}" is wanted here');
    }
    this.#take("}");
    // not by assignment: a name may be __proto__
    return Object.fromEntries(entries);
  }

  #array(depth: number): unknown[] {
    const values: unknown[] = [];
    this.#take("[");
    while (this.#text[this.#at] !== "]") {
      values.push(this.value(depth));
      if (this.#text[this.#at] === ",") this.#take(",");
      else if (this.#text[this.#at] !== "]") throw this.#failure('"," or "]" is wanted here');
    }
    this.#take("]");
    return values;
  }

  #string(): string {
    const start = this.#at;
    const token = this.#match(string);
    if (token === undefined) throw this.#failure("this text in quotes has no end on its line");
    this.#skip();
    try {
      return String(JSON.parse(token));
    } catch {
      // its message would repeat the text
      throw this.#failure("this text in quotes has a character or an escape that JSON does not know", start);
    }
  }

  #take(mark: string): void {
    this.#at += mark.length;
    this.#skip();
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const token = pattern.exec(this.#text)?.[0];
    if (token !== undefined) this.#at += token.length;
    return token;
  }

  #skip(): void {
    this.#match(space);
  }

  #failure(message: string, at = this.#at): SyntaxFailure {
    return new SyntaxFailure(message, this.#text, at);
  }
}
