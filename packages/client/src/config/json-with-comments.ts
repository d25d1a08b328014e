// Parses JSON with comments and trailing commas, with messages that never repeat the text.

import { createRequire } from "node:module";
import type * as Jsonc from "jsonc-parser";

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

let loaded: typeof Jsonc | undefined;

/** The parser, loaded when there is a file: as an import it would take 10 ms of every start. */
export function parser(): typeof Jsonc {
  loaded ??= createRequire(import.meta.url)("jsonc-parser") as typeof Jsonc; // it has these types
  return loaded;
}

const maxDepth = 65;
const options = { allowTrailingComma: true };

/** Throws SyntaxFailure with the position. */
export function parseJsonWithComments(text: string): unknown {
  return plainValue(parseWithPositions(text));
}

/** The same, as a tree that says where everything is. */
export function parseWithPositions(text: string): Jsonc.Node {
  const plain = text.replace(/^\uFEFF/, " ");
  check(plain);
  return parser().parseTree(plain, [], options) as Jsonc.Node; // it has a value, as was checked
}

/** Throws for the first mistake. */
function check(text: string): void {
  const open: (Set<string> | "array")[] = [];
  let expected = "a value";
  const fail = (message: string, at: number): never => {
    throw new SyntaxFailure(message, text, at);
  };
  const begin = (container: Set<string> | "array", at: number) => {
    if (open.push(container) > maxDepth) fail("nested too deeply", at);
    expected = container === "array" ? "a value" : 'a quoted name or "}"';
  };
  const end = () => {
    const inner = open.at(-1);
    expected = inner === undefined ? "" : `"," or "${inner === "array" ? "]" : "}"}"`;
  };
  const close = (at: number) => {
    // the parser reports an end where it misses one, too, and the mistake only then
    if (!"}]".includes(text.charAt(at) || " ")) return;
    open.pop();
    end();
  };
  parser().visit(
    text,
    {
      onObjectBegin: (at) => begin(new Set(), at),
      onArrayBegin: (at) => begin("array", at),
      onObjectProperty(name, at) {
        const names = open.at(-1) as Set<string>; // only objects have names
        if (names.has(name)) fail("this name occurs twice", at);
        names.add(name);
        expected = '":"';
      },
      onSeparator(mark) {
        expected = mark === ":" || open.at(-1) === "array" ? "a value" : 'a quoted name or "}"';
      },
      onLiteralValue: end,
      onObjectEnd: close,
      onArrayEnd: close,
      onError(code, at) {
        fail(
          mistakes[parser().printParseErrorCode(code)] ??
            (expected === "" ? "unexpected text after the value" : `expected ${expected}`),
          at,
        );
      },
    },
    options,
  );
}

const unknownCharacter = "this text in quotes has a character or an escape that JSON does not know";
const mistakes: Readonly<Record<string, string>> = {
  UnexpectedEndOfString: "this quoted text does not end on its line",
  InvalidCharacter: unknownCharacter,
  InvalidEscapeCharacter: unknownCharacter,
  InvalidUnicode: unknownCharacter,
};

function plainValue({ type, children = [], value }: Jsonc.Node): unknown {
  if (type === "array") return children.map(plainValue);
  if (type !== "object") return value;
  // not by assignment: a name may be __proto__
  return Object.fromEntries(
    children.map(({ children: [name, inner] = [] }) => [name?.value, inner && plainValue(inner)]),
  );
}
