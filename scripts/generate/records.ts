// Writes the functions of records. A branch of a union sees the same object as its parent: `n` carries how many
// keys were recognised so far, and the leaf compares it with the number of keys there are, which is how strict
// mode finds custom root fields (X2) without a lookup. `outer` names the keys that the parents recognised.

import { featureBit } from "./feature-places.ts";
import { FieldWriter, property, type SharedChecks } from "./fields.ts";
import type { Case, Definition, Field, Rec, Union } from "./shapes.ts";
import { extras, listed, open, own, Path, quote, strict, unstable, type ValueWriter } from "./values.ts";

/** Names of fields, separated by blanks; an unstable one is followed by its feature, as `usage?usage`. */
type Keys = string;

const empty: Rec = { fields: [], union: undefined, open: false, from: "" };

const keysOf = (fields: Field[]): Keys =>
  fields.map(({ name, unstable }) => (unstable === undefined ? name : `${name}?${unstable}`)).join(" ");

const joined = (...keys: Keys[]): Keys => keys.filter((each) => each !== "").join(" ");

export class RecordWriter {
  readonly #values: ValueWriter;
  readonly #fields: FieldWriter;
  readonly #definitions: ReadonlyMap<string, Definition>;
  readonly #checks: SharedChecks;
  /** Definitions whose function is also called by the unions that they are branches of. */
  readonly #shared = new Set<string>();

  constructor(definitions: ReadonlyMap<string, Definition>, values: ValueWriter, checks: SharedChecks) {
    this.#definitions = definitions;
    this.#values = values;
    this.#checks = checks;
    this.#fields = new FieldWriter(values, checks);
    for (const { node } of definitions.values())
      if (node.kind === "record") this.#findShared(node.record.union);
  }

  #findShared(union: Union | undefined): void {
    if (union === undefined) return;
    const records =
      union.kind === "keyed"
        ? union.choices.map((choice) => choice.record)
        : [...union.cases.map((each) => each.record), ...(union.fallback ? [union.fallback] : [])];
    for (const record of records) {
      if (this.#isWhole(record)) this.#shared.add(this.#values.canonical(record.from));
      this.#findShared(record.union);
    }
  }

  /** Whether the branch is a definition as it is, so that both can share one function. */
  #isWhole(record: Rec): boolean {
    const node = this.#definitions.get(record.from)?.node;
    if (node?.kind !== "record" || record.union !== undefined) return false;
    return JSON.stringify(node.record) === JSON.stringify(record);
  }

  /** The exported validator of a record, and the functions that it needs. */
  definition(name: string, record: Rec): string[][] {
    const signature = `export function ${name}(v: any, mode: number): Failure | undefined {`;
    const object = this.#values.object("v");
    if (!this.#shared.has(name))
      return this.#functions(name, record, { lines: [signature, object, "let n = 0;"] });
    const parameters = "(v: any, mode: number, n: number, outer: string)";
    return [
      [signature, object, `return ${name}_(v, mode, 0, "");`, "}"],
      ...this.#functions(name, record, {
        lines: [`function ${name}_${parameters}: Failure | undefined {`],
        shared: true,
      }),
    ];
  }

  /** The call that validates a branch, and the functions that it needs. */
  #branch(name: string, record: Rec, n: string, outer: Keys): { call: string; functions: string[][] } {
    if (this.#isWhole(record)) {
      return {
        call: `${this.#values.canonical(record.from)}_(v, mode, ${n}, ${quote(outer)})`,
        functions: [],
      };
    }
    const lines = [`function ${name}(v: any, mode: number, n: number): Failure | undefined {`];
    return { call: `${name}(v, mode, ${n})`, functions: this.#functions(name, record, { lines, outer }) };
  }

  /** The function of a record, begun in `lines`, and those of its union's branches. */
  #functions(
    name: string,
    record: Rec,
    begun: { lines: string[]; outer?: Keys; shared?: boolean },
  ): string[][] {
    const { lines } = begun;
    const keys = joined(begun.outer ?? "", keysOf(record.fields));
    const counts = !record.open || record.union !== undefined;
    const required = record.fields.filter((field) => field.required && !field.unstable).length;
    if (counts && required > 0) lines.push(`n += ${required};`);
    // A failing branch must not have changed anything, so what can be salvaged is looked at last.
    const order = (field: Field): number => (field.required && !field.defaultOnError ? 0 : 1);
    const fields = record.fields.toSorted((a, b) => order(a) - order(b));
    const last = record.union === undefined && !record.open ? fields.at(-1) : undefined;
    const ending = last?.name === "_meta" && !last.required ? this.#ending(last) : undefined;
    for (const field of ending === undefined ? fields : fields.slice(0, -1))
      lines.push(...this.#fields.field(field, counts));
    if (record.union !== undefined) {
      const branches = this.#union(name, record.union, keys, lines);
      return [...branches, [...lines, "}"]];
    }
    if (ending !== undefined) {
      const call = `${ending}(v, mode, n, ${quote(keys)}${begun.shared ? ", outer" : ""})`;
      // most messages need no call
      lines.push(`if (v._meta === undefined && (mode & ${strict | extras}) === 0) return undefined;`);
      return [[...lines, `return ${call};`, "}"]];
    }
    if (!record.open) lines.push(...keyCheck(quote(keys), begun.shared ?? false));
    return [[...lines, "return undefined;", "}"]];
  }

  /** Nearly every record ends alike: with its custom data, and with the count of its keys. */
  #ending(meta: Field): string | undefined {
    const body = [...this.#fields.inPlace(meta, true), ...keyCheck("known", true)];
    return this.#checks.nameOf("ending", 'v: any, mode: number, n: number, known: string, outer = ""', body);
  }

  #union(name: string, union: Union, keys: Keys, lines: string[]): string[][] {
    return union.kind === "tagged"
      ? this.#tagged(name, union, keys, lines)
      : this.#keyed(name, union, keys, lines);
  }

  #tagged(name: string, union: Union & { kind: "tagged" }, outer: Keys, lines: string[]): string[][] {
    const { tag, tagIsField, cases, other, fallback } = union;
    const keys = tagIsField ? outer : joined(tag, outer);
    const n = tagIsField ? "n" : "n + 1";
    const functions: string[][] = [];
    const call = (suffix: string, record: Rec, count: string, known: Keys): string => {
      const branch = this.#branch(`${name}_${suffix}`, record, count, known);
      functions.push(...branch.functions);
      return branch.call;
    };
    lines.push(`const tag = ${property(tag)};`, "switch (tag) {");
    for (const each of cases) {
      const go = `return ${call(each.values[0] ?? "", each.record, n, keys)};`;
      const labels = each.values.map((value) => `case ${quote(value)}:`);
      lines.push(...labels, ...guarded(each, go));
    }
    if (tagIsField)
      lines.push("case undefined:", "case null:", `return ${call("untagged", empty, n, keys)};`);
    lines.push("}");
    const path = new Path().field(tag);
    if (other !== undefined) {
      const plain = other.fields.length === 0 && other.union === undefined;
      const accept = plain ? "undefined" : call("other", other, n, keys);
      // a tag that an app makes up begins with an underscore (X8)
      const fine = `((mode & ${own}) === 0 || tag.startsWith("_"))`;
      lines.push(`if (typeof tag === "string" && ${fine}) return ${accept};`);
    } else if (fallback === undefined) {
      lines.push(`if (mode & ${open} && typeof tag === "string") return undefined;`);
    }
    if (fallback === undefined) {
      const otherwise = other === undefined ? undefined : 'another string, of your own with a leading "_"';
      lines.push(`return ${wrongTag(path, cases, otherwise)};`);
      return functions;
    }
    lines.push(`const f = ${call("fallback", fallback, "n", outer)};`);
    // A tag that nobody knows is the likelier mistake than a malformed untagged variant.
    const strange = `f !== undefined && !f.limit && typeof tag === "string"`;
    if (other === undefined) {
      lines.push(`if (${strange}) return ${wrongTag(path, cases, "nothing")};`);
    }
    lines.push("return f;");
    return functions;
  }

  #keyed(name: string, union: Union & { kind: "keyed" }, keys: Keys, lines: string[]): string[][] {
    const functions: string[][] = [];
    const names = union.choices.map((choice) => choice.key);
    lines.push("let f: Failure | undefined;", ...(union.exclusive ? ["let hits = 0;"] : []));
    for (const { key, record } of union.choices) {
      const branch = this.#branch(`${name}_${key}`, record, "n", keys);
      functions.push(...branch.functions);
      lines.push(
        `if (${property(key)} !== undefined) {`,
        `const g = ${branch.call};`,
        union.exclusive ? "if (g === undefined) hits++;" : "if (g === undefined) return undefined;",
        union.exclusive ? "else f ??= g;" : "f ??= g;",
        "}",
      );
    }
    if (union.exclusive) {
      const both = quote(`object with only one of ${names.join(" and ")}`);
      lines.push("if (hits === 1) return undefined;", `if (hits > 1) return wrongType("", ${both}, v);`);
    }
    lines.push(`return f ?? wrongType("", ${quote(`object with ${names.join(" or ")}`)}, v);`);
    return functions;
  }
}

/** An unstable variant is for those who have enabled its feature. */
function guarded({ unstable }: Case, go: string): string[] {
  return unstable === undefined ? [go] : [`if (mode & ${featureBit(unstable)}) ${go}`, "break;"];
}

function wrongTag(path: Path, cases: Case[], otherwise: string | undefined): string {
  const expected = tagsOf(cases, otherwise);
  const features = cases.flatMap(({ values, unstable }) =>
    unstable === undefined ? [] : values.map((value) => `${value}=${unstable}`),
  );
  if (features.length === 0) return `wrongValue(${path}, ${expected}, tag)`;
  return `wrongTag(${path}, ${expected}, tag, ${quote(features.join(" "))})`;
}

function tagsOf(cases: Case[], otherwise: string | undefined): string {
  const values = (flagged: boolean): string[] =>
    cases.filter((each) => flagged || !each.unstable).flatMap((each) => each.values);
  const [plain, flagged] = [quote(listed(values(false), otherwise)), quote(listed(values(true), otherwise))];
  return plain === flagged ? plain : `mode & ${unstable} ? ${flagged} : ${plain}`;
}

/** `keys` is an expression. */
function keyCheck(keys: string, isShared: boolean): string[] {
  return [
    `if (mode & ${strict | extras}) {`,
    "for (const _ in v) n--;",
    `if (n !== 0) return strayKey(v, mode, ${keys}${isShared ? ", outer" : ""});`,
    "}",
  ];
}
