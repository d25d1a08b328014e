// Parses JSON with comments and trailing commas, with messages that never repeat the text.

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

/** The position of a value in the text. */
export interface Position {
  readonly start: number;
  readonly end: number;
  /** The start of the name, for a member of an object. */
  readonly name?: number;
  /** The positions of the members of an object. */
  readonly members?: ReadonlyMap<string, Position>;
  /** The position after the trailing comma of an object, if there is one. */
  readonly afterComma?: number;
}

/** Throws SyntaxFailure with the position. */
export function parseJsonWithComments(text: string): unknown {
  return parseWithPositions(text).value;
}

/** The same, and where everything is. */
export function parseWithPositions(text: string): { readonly value: unknown; readonly position: Position } {
  const reader = new Reader(text.replace(/^\uFEFF/, " "));
  const value = reader.value(0);
  reader.end();
  return { value, position: reader.position };
}

class Reader {
  /** The position of the value that was read last. */
  position: Position = { start: 0, end: 0 };
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skip();
  }

  value(depth: number): unknown {
    if (depth > maxDepth) throw this.#failure("nested too deeply");
    const first = this.#text[this.#at];
    if (first === "{") return this.#object(depth + 1);
    const start = this.#at;
    if (first === "[") return this.#array(depth + 1);
    if (first === '"') return this.#string();
    const token = this.#match(number) ?? this.#match(word);
    if (token === undefined) throw this.#failure("expected a value");
    this.position = { start, end: this.#at };
    this.#skip();
    return JSON.parse(token);
  }

  end(): void {
    if (this.#at < this.#text.length) throw this.#failure("unexpected text after the value");
  }

  #object(depth: number): unknown {
    const entries = new Map<string, unknown>();
    const members = new Map<string, Position>();
    const open = this.#at;
    let afterComma: number | undefined;
    this.#take("{");
    while (this.#text[this.#at] !== "}") {
      const start = this.#at;
      if (this.#text[start] !== '"') throw this.#failure('expected a quoted name or "}"');
      const name = this.#string();
      if (entries.has(name)) throw this.#failure("this name occurs twice", start);
      if (this.#text[this.#at] !== ":") throw this.#failure('expected ":"');
      this.#take(":");
      entries.set(name, this.value(depth));
      members.set(name, { ...this.position, name: start });
      afterComma = undefined;
      if (this.#text[this.#at] === ",") {
        afterComma = this.#at + 1;
        this.#take(",");
      } else if (this.#text[this.#at] !== "}") throw this.#failure('expected "," or "}"');
    }
    this.position = {
      start: open,
      end: this.#at + 1,
      members,
      ...(afterComma === undefined ? {} : { afterComma }),
    };
    this.#take("}");
    // not by assignment: a name may be __proto__
    return Object.fromEntries(entries);
  }

  #array(depth: number): unknown[] {
    const values: unknown[] = [];
    const start = this.#at;
    this.#take("[");
    while (this.#text[this.#at] !== "]") {
      values.push(this.value(depth));
      if (this.#text[this.#at] === ",") this.#take(",");
      else if (this.#text[this.#at] !== "]") throw this.#failure('expected "," or "]"');
    }
    this.position = { start, end: this.#at + 1 };
    this.#take("]");
    return values;
  }

  #string(): string {
    const start = this.#at;
    const token = this.#match(string);
    if (token === undefined) throw this.#failure("this quoted text does not end on its line");
    this.position = { start, end: this.#at };
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
