// Writes the check of one field of a record, with what the schema salvages when the check fails.

import { featureBit } from "./feature-places.ts";
import type { Field, Node } from "./shapes.ts";
import { nulls, type OnFail, Path, quote, returnIt, strict, unstable, type ValueWriter } from "./values.ts";

export const property = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? `v.${name}` : `v[${quote(name)}]`;

/** A check of so many lines that several records have is a function. */
const longCheck = 10;

/** The functions of checks that several records have. Modules that share one share the names too. */
export class SharedChecks {
  readonly #names = new Map<string, string>();
  /** How often each check was written. */
  #uses = new Map<string, number>();
  #known: ReadonlyMap<string, number> = new Map();
  #functions = new Map<string, string[]>();

  /** Begins a module. The first pass over its definitions only counts, the second writes. */
  begin(pass: "counts" | "writes"): void {
    this.#known = pass === "counts" ? new Map() : this.#uses;
    this.#uses = new Map();
    this.#functions = new Map();
  }

  /** The name of the function with this body; undefined where it has one use. */
  nameOf(what: string, parameters: string, body: readonly string[]): string | undefined {
    const text = [parameters, ...body].join("\n");
    this.#uses.set(text, (this.#uses.get(text) ?? 0) + 1);
    if ((this.#known.get(text) ?? 0) < 2) return undefined;
    const taken = [...this.#names.values()].filter((name) => name.replace(/\d+$/, "") === what).length;
    const name = this.#names.get(text) ?? (taken === 0 ? what : `${what}${taken + 1}`);
    this.#names.set(text, name);
    this.#functions.set(name, [
      `function ${name}(${parameters}): Failure | undefined {`,
      ...body,
      "return undefined;",
      "}",
    ]);
    return name;
  }

  get functions(): string[][] {
    return [...this.#functions.values()];
  }
}

export class FieldWriter {
  readonly #values: ValueWriter;
  readonly #shared: SharedChecks;

  constructor(values: ValueWriter, shared: SharedChecks) {
    this.#values = values;
    this.#shared = shared;
  }

  /** The statements that check one field of `v`; `counts` asks to count it in `n` when it is there. */
  field(field: Field, counts: boolean): string[] {
    const { name, required, requiredWith, unstable } = field;
    const lines = this.inPlace(field, counts);
    // of a feature that is not enabled the field may be there, and is not counted
    if (lines.length < longCheck || requiredWith.length > 0 || unstable !== undefined) return lines;
    const body = this.inPlace(field, false);
    const shared = this.#shared.nameOf(`field_${name.replace(/\W/g, "")}`, "v: any, mode: number", body);
    if (shared === undefined) return lines;
    const [begin, count] = [`const f = ${shared}(v, mode);`, `if (${property(name)} !== undefined) n++;`];
    const check = [begin, "if (f !== undefined) return f;"];
    if (required) return ["{", ...check, "}"];
    return [`if (${property(name)} !== undefined) {`, ...check, ...(counts ? [count] : []), "}"];
  }

  /** The same, never by a function. */
  inPlace(field: Field, counts: boolean): string[] {
    const { name, node, required, requiredWith } = field;
    const direct = this.#fieldCheck(field, counts, property(name));
    const isPlain = !field.defaultOnError && node.kind !== "nullable" && field.unstable === undefined;
    // one statement: the field is read where it is checked
    if (required && isPlain && (direct.length === 1 || direct[0] === "{")) return direct;
    const lines: string[] = [];
    if (required && (this.#values.isAny(node) || node.kind === "nullable" || field.defaultOnError)) {
      const path = new Path().field(name);
      lines.push(`if (x === undefined) return wrongType(${path}, ${quote(describe(node))}, x);`);
    }
    lines.push(...this.#fieldCheck(field, counts, "x"));
    if (required && field.unstable && counts) lines.unshift("n++;");
    if (!required && lines.length > 0) {
      const present = ["x", ...requiredWith.map(property)].map((each) => `${each} !== undefined`);
      lines.unshift(`if (${present.join(" || ")}) {`, ...(counts ? ["n++;"] : []));
      lines.push("}");
    } else if (!required && counts) {
      lines.push("if (x !== undefined) n++;");
    }
    if (lines.length === 0) return [];
    const guard = field.unstable === undefined ? "" : `if (mode & ${featureBit(field.unstable)}) `;
    const label = this.#labelled(field) ? "field: " : "";
    return [`${guard}${label}{`, `const x = ${property(name)};`, ...lines, "}"];
  }

  /** The check of a field that is there. */
  #fieldCheck(field: Field, counts: boolean, x: string): string[] {
    const { name, node } = field;
    const path = new Path().field(name);
    const onFail = field.defaultOnError ? this.#salvageIt(field, counts) : returnIt;
    const inner = node.kind === "nullable" ? node.node : node;
    const check =
      inner.kind === "array"
        ? this.#values.array(inner, x, path, { onFail, skipInvalid: field.skipInvalid })
        : this.#values.check(inner, x, path, onFail, node.kind === "nullable");
    if (field.defaultOnNull) {
      const empty = inner.kind === "map" ? "{}" : "[]";
      const refuse = `if (mode & ${strict}) return wrongType(${path}, ${quote(describe(node))}, ${x});`;
      return [`if (${x} === null) {`, refuse, `${property(name)} = ${empty};`, "} else {", ...check, "}"];
    }
    if (node.kind !== "nullable") return check;
    const remove = field.required || field.patches ? "" : `if (mode & ${nulls}) { ${removed(name, counts)} }`;
    if (check.length === 0) return remove === "" ? [] : [`if (${x} === null) ${remove}`];
    return [`if (${x} !== null) {`, ...check, remove === "" ? "}" : `} else ${remove}`];
  }

  /** Default-on-error: strict mode and exceeded bounds fail all the same. */
  #salvageIt(field: Field, counts: boolean): OnFail {
    const leave = this.#labelled(field) ? " break field;" : "";
    return (failure, kind) => {
      if (kind === "limit") return `return ${failure};`;
      const hard = kind === "nested" ? `mode & ${strict} || f.limit` : `mode & ${strict}`;
      return `{ if (${hard}) return ${failure}; ${this.#salvage(field, counts)}${leave} }`;
    };
  }

  /** A salvaged field is done with, also from inside a loop. */
  #labelled(field: Field): boolean {
    return field.defaultOnError && this.#loops(field.node);
  }

  #loops(node: Node): boolean {
    const inner = node.kind === "nullable" ? node.node : node;
    if (inner.kind === "map") return !this.#values.isAny(inner.values);
    return (
      inner.kind === "array" ||
      (inner.kind === "string" && inner.check !== undefined) ||
      inner.kind === "integer"
    );
  }

  /** What a malformed value becomes: the schema's default, an empty list, or nothing. */
  #salvage(field: Field, counts: boolean): string {
    const { name, stableDefault, unstableDefault } = field;
    if (unstableDefault !== undefined) {
      const [plain, flagged] = [JSON.stringify(stableDefault), JSON.stringify(unstableDefault)];
      return `${property(name)} = ${plain === flagged ? plain : `mode & ${unstable} ? ${flagged} : ${plain}`};`;
    }
    if (field.node.kind === "array") return `${property(name)} = [];`;
    if (field.required && field.defaultOnError)
      throw new Error(`${name}: is required and has nothing to default to`);
    return removed(name, counts);
  }
}

/** A field that is removed is not there to be counted. */
function removed(name: string, counts: boolean): string {
  return `delete ${property(name)};${counts ? " n--;" : ""}`;
}

function describe(node: Node): string {
  if (node.kind === "nullable") return `${describe(node.node)} or null`;
  if (node.kind === "any") return "present";
  return node.kind === "ref" || node.kind === "map" ? "object" : node.kind;
}
