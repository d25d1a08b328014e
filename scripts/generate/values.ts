// Writes the check of one value. Every check is a statement that does nothing when the value is right, so that
// the validators are straight-line code; what happens otherwise is up to the caller (`OnFail`).

import { allFeatureBits } from "./feature-places.ts";
import type { Definition, Node } from "./shapes.ts";

/** Writes the statement that runs when a check fails. `failure` is an expression that makes the Failure. */
export type OnFail = (failure: string, kind: "own" | "nested" | "limit") => string;

export const returnIt: OnFail = (failure) => `return ${failure};`;

/** The bits of `mode`, as literals: imported constants would be loads in the hottest code of the library. */
export const strict = 1;
export const nulls = 2;
export const open = 4;
export const checks = 8;
export const own = 16;
export const extras = 2 ** 30;
export const unstable = allFeatureBits;

export const quote = (text: string): string => JSON.stringify(text);

/** `"a", "b" or "c"` */
export function listed(values: string[], otherwise?: string): string {
  const parts = [...values.map(quote), ...(otherwise === undefined ? [] : [otherwise])];
  const last = parts.pop() ?? "";
  return parts.length === 0 ? last : `${parts.join(", ")} or ${last}`;
}

/** A JSON pointer as a JavaScript expression: constant text, or constant text followed by variables. */
export class Path {
  readonly #text: string;
  readonly #rest: string;
  constructor(text = "", rest = "") {
    this.#text = text;
    this.#rest = rest;
  }
  field(name: string): Path {
    return new Path(`${this.#text}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
  variable(expression: string): Path {
    return new Path(`${this.#text}/`, ` + ${expression}`);
  }
  toString(): string {
    return quote(this.#text) + this.#rest;
  }
}

const notObject = (x: string): string => `isNotObject(${x})`;

/** Writes the statement for a value that is wrong by one of the functions of failure.ts. */
type Fail = (how: string, expected: string) => string;

export class ValueWriter {
  readonly #definitions: ReadonlyMap<string, Definition>;
  /** Whether a failure says that null would do. */
  readonly #namesNull: boolean;
  /** Definitions that look alike share one function: dozens of them only have `_meta`. */
  readonly #canonical = new Map<string, string>();

  constructor(definitions: ReadonlyMap<string, Definition>, namesNull: boolean) {
    this.#definitions = definitions;
    this.#namesNull = namesNull;
    const first = new Map<string, string>();
    for (const { name, node } of definitions.values()) {
      const shape = JSON.stringify(node, (key, value) => (key === "from" ? undefined : value));
      const known = first.get(shape) ?? name;
      first.set(shape, known);
      this.#canonical.set(name, known);
    }
  }

  /** The definition whose function validates this one. */
  canonical(name: string): string {
    return this.#canonical.get(name) ?? name;
  }

  /** Follows references to definitions that are small enough to be checked in place. */
  #resolve(node: Node): Node | { kind: "enum"; values: string[]; open: boolean; name: string } {
    if (node.kind !== "ref") return node;
    const target = this.#definitions.get(node.name)?.node;
    if (target === undefined) throw new Error(`${node.name}: is referred to but not generated`);
    if (target.kind === "enum") return { ...target, name: this.canonical(node.name) };
    return ["any", "boolean", "string", "number", "integer"].includes(target.kind) ? target : node;
  }

  /** Whether the check can fail at all. */
  isAny(node: Node): boolean {
    return this.#resolve(node).kind === "any";
  }

  check(given: Node, x: string, path: Path, onFail: OnFail, orNull = false): string[] {
    const node = this.#resolve(given);
    const fail: Fail = (how, expected) => {
      const text = orNull && this.#namesNull && how === "wrongType" ? `${expected} or null` : expected;
      return onFail(`${how}(${path}, ${quote(text)}, ${x})`, "own");
    };
    switch (node.kind) {
      case "any":
        return [];
      case "boolean":
        return [`if (typeof ${x} !== "boolean") ${fail("wrongType", "boolean")}`];
      case "string":
        return this.#string(node, x, fail);
      case "number":
      case "integer":
        return this.#number(node, x, fail);
      case "enum": {
        if (node.open) return this.#openEnum(node.values, x, fail);
        if (!("name" in node)) throw new Error("a closed enum must be a definition of its own");
        const known = `(mode & ${open}) === 0 && !is${node.name}(${x})`;
        return [`if (typeof ${x} !== "string" || ${known}) ${fail("wrongValue", listed(node.values))}`];
      }
      case "nullable":
        return [`if (${x} !== null) {`, ...this.check(node.node, x, path, onFail, true), "}"];
      case "ref":
        return [
          "{",
          `const f = ${this.canonical(node.name)}(${x}, mode);`,
          `if (f !== undefined) ${onFail(`within(${path}, f)`, "nested")}`,
          "}",
        ];
      case "map":
        return this.#map(node.values, x, path, onFail);
      case "array":
        return this.array(node, x, path, { onFail, skipInvalid: false });
      default:
        throw new Error(`${node.kind} must be a definition of its own`);
    }
  }

  /** Anything is taken from others; a value that an app makes up begins with an underscore (X8). */
  #openEnum(values: readonly string[], x: string, fail: Fail): string[] {
    const strange = values.map((value) => `${x} !== ${quote(value)}`).join(" && ");
    const expected = `${values.join(", ")} or a name that begins with "_"`;
    return [
      `if (typeof ${x} !== "string") ${fail("wrongType", "string")}`,
      `if (mode & ${own} && ${strange} && !${x}.startsWith("_")) ${fail("wrongValue", expected)}`,
    ];
  }

  #string(node: Node & { kind: "string" }, x: string, fail: Fail): string[] {
    const absolute = "an absolute path";
    const clean = "string without NUL and lone surrogates";
    const lines = [`if (typeof ${x} !== "string") ${fail("wrongType", "string")}`];
    if (node.minLength > 0) {
      lines.push(`if (${x}.length < ${node.minLength}) ${fail("wrongValue", "non-empty string")}`);
    }
    const { check } = node;
    if (check === "actPath" || check === "text") {
      lines.push(`if (mode & ${checks} && !isCleanText(${x})) ${fail("wrongType", clean)}`);
    }
    if (check === "actPath") {
      lines.push(`if (mode & ${checks} && !isAbsolutePath(${x})) ${fail("wrongValue", absolute)}`);
    }
    const sending = `(mode & ${checks | strict}) === ${checks | strict}`;
    if (check === "path")
      lines.push(`if (${sending} && !isAbsolutePath(${x})) ${fail("wrongValue", absolute)}`);
    if (node.format === "uri") {
      lines.push(`if (${sending} && !URL.canParse(${x})) ${fail("wrongValue", "a URI with a scheme")}`);
    }
    if (node.format === "date-time") {
      lines.push(`if (${sending} && !isDateTime(${x})) ${fail("wrongValue", "an RFC 3339 date and time")}`);
    }
    return lines;
  }

  #number(node: Node & { kind: "number" | "integer" }, x: string, fail: Fail): string[] {
    const { kind, min, max } = node;
    const wrong = [kind === "integer" ? `!Number.isInteger(${x})` : `!Number.isFinite(${x})`];
    if (min !== undefined) wrong.push(`${x} < ${min}`);
    if (max !== undefined) wrong.push(`${x} > ${max}`);
    const range =
      max !== undefined ? ` from ${min} to ${max}` : min === undefined ? "" : ` of at least ${min}`;
    const lines = [`if (${wrong.join(" || ")}) ${fail("wrongNumber", kind + range)}`];
    if (node.check === "line") {
      const sent = checks | strict;
      lines.push(`if ((mode & ${sent}) === ${sent} && ${x} < 1) ${fail("wrongNumber", "1-based line")}`);
    }
    return lines;
  }

  #map(values: Node, x: string, path: Path, onFail: OnFail): string[] {
    const lines = [`if (${notObject(x)}) ${onFail(`wrongType(${path}, "object", ${x})`, "own")}`];
    if (this.isAny(values)) return lines;
    const inner = this.check(values, "y", path.variable("pointer(k)"), onFail);
    return [...lines, `for (const k in ${x}) {`, `const y = ${x}[k];`, ...inner, "}"];
  }

  /** Invalid items are skipped by closing the gaps in place, which costs a good list nothing. */
  array(
    node: Node & { kind: "array" },
    x: string,
    path: Path,
    how: { onFail: OnFail; skipInvalid: boolean },
  ): string[] {
    const { onFail, skipInvalid } = how;
    const skip: OnFail = (failure, kind) => {
      const hard = kind === "nested" ? `mode & ${strict} || f.limit` : `mode & ${strict}`;
      return `{ if (${hard}) return ${failure}; continue; }`;
    };
    const inner = this.check(node.items, "y", path.variable("i"), skipInvalid ? skip : onFail);
    const tooFew = onFail(`tooFew(${path}, ${node.minItems}, ${x}.length)`, "own");
    const walk = this.isAny(node.items)
      ? []
      : [
          `for (let i = 0; i < ${x}.length; i++) {`,
          `const y = ${x}[i];`,
          ...inner,
          ...(skipInvalid ? keep(x) : []),
          "}",
        ];
    return [
      `if (!Array.isArray(${x})) ${onFail(`wrongType(${path}, "array", ${x})`, "own")}`,
      `if (${x}.length > maxArrayItems) ${onFail(`tooMany(${path}, ${x}.length)`, "limit")}`,
      ...(skipInvalid ? ["let w = 0;"] : []),
      ...walk,
      ...(skipInvalid ? [`if (w !== ${x}.length) ${x}.length = w;`] : []),
      ...(node.minItems > 0 ? [`if (${x}.length < ${node.minItems}) ${tooFew}`] : []),
    ];
  }

  object(x: string): string {
    return `if (${notObject(x)}) return wrongType("", "object", ${x});`;
  }
}

const keep = (x: string): string[] => [`if (w !== i) ${x}[w] = y;`, "w++;"];
