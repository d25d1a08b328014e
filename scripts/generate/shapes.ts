// Turns schema definitions into a small model that types and validators are written from: every definition is
// a node, and everything object-like is a record, that is fields plus at most one union that they flatten into.

import { type Check, checksFor } from "./checks.ts";
import { featureOf, type UnstableFeature } from "./feature-places.ts";
import { patchesFor } from "./patches.ts";
import { type Definitions, isEnvelope, refName, type Schema, type SchemaPair, tagOf } from "./schema.ts";

/** The formats of strings that other implementations enforce, so that what we send must keep them. */
export type TextFormat = "uri" | "date-time";

export type Node =
  | { kind: "any" | "boolean" }
  | { kind: "string"; minLength: number; format?: TextFormat; check?: Check }
  | { kind: "number" | "integer"; min?: number; max?: number; check?: Check }
  | { kind: "enum"; values: string[]; open: boolean }
  | { kind: "array"; items: Node; minItems: number }
  | { kind: "map"; values: Node }
  | { kind: "ref"; name: string }
  | { kind: "nullable"; node: Node }
  /** One of several primitives (or a list of them): told apart by type. */
  | { kind: "primitives"; nodes: Node[] }
  /** A list whose items are all of the first or all of the second definition. */
  | { kind: "lists"; lists: [ListChoice, ListChoice]; minItems: number }
  | { kind: "record"; record: Rec };

export interface ListChoice {
  name: string;
  /** Fields that are required here and unknown to the other choice. */
  keys: string[];
}

export interface Field {
  name: string;
  node: Node;
  required: boolean;
  /** Other fields that make this one required when they are there. */
  requiredWith: string[];
  /** The feature that must be enabled; undefined for a stable field. */
  unstable: UnstableFeature | undefined;
  /** Null clears a value; elsewhere it means the same as nothing. */
  patches: boolean;
  defaultOnError: boolean;
  skipInvalid: boolean;
  defaultOnNull: boolean;
  /** The schema's default, in the stable and in the unstable schema; undefined when there is none. */
  stableDefault: unknown;
  unstableDefault: unknown;
}

export interface Rec {
  fields: Field[];
  union: Union | undefined;
  /** Unknown keys are payload: the schema says so for the open branch of a union. */
  open: boolean;
  /** The definition that the fields come from, for names. */
  from: string;
}

export interface Case {
  values: string[];
  /** The feature that must be enabled; undefined for a stable variant. */
  unstable: UnstableFeature | undefined;
  record: Rec;
}

export type Union =
  | {
      kind: "tagged";
      tag: string;
      /** The tag is one of the surrounding record's fields already (and may be absent or null). */
      tagIsField: boolean;
      cases: Case[];
      /** The branch for any other string. */
      other: Rec | undefined;
      /** The branch without a tag. */
      fallback: Rec | undefined;
    }
  | { kind: "keyed"; exclusive: boolean; choices: { key: string; record: Rec }[] };

export interface Definition {
  name: string;
  node: Node;
  /** Not in the stable schema. */
  unstable: boolean;
}

const integerBounds: Record<string, [number | undefined, number | undefined]> = {
  uint16: [0, 65_535],
  uint32: [0, 4_294_967_295],
  int32: [-2_147_483_648, 2_147_483_647],
  // 64-bit numbers lose precision in JSON.parse, but they stay integers.
  uint64: [0, undefined],
  int64: [undefined, undefined],
};

/** All definitions of one version that describe values rather than envelopes. */
export function shapesOf(
  pair: SchemaPair,
  moreChecks?: Readonly<Record<string, Check>>,
): Map<string, Definition> {
  const builder = new ShapeBuilder(pair, moreChecks);
  const result = new Map<string, Definition>();
  for (const name of Object.keys(pair.unstable)) {
    if (!isEnvelope(name)) result.set(name, builder.definition(name));
  }
  return result;
}

class ShapeBuilder {
  readonly #stable: Definitions;
  readonly #unstable: Definitions;
  readonly #checks: ReadonlyMap<string, Check>;
  readonly #isPatch: (definition: string, field: string) => boolean;

  constructor(pair: SchemaPair, moreChecks: Readonly<Record<string, Check>> | undefined) {
    this.#stable = pair.stable;
    this.#unstable = pair.unstable;
    this.#checks = checksFor(pair.version, pair.unstable, moreChecks);
    this.#isPatch = patchesFor(pair.version, pair.unstable);
  }

  definition(name: string): Definition {
    const schema = this.#schema(name);
    const node: Node = this.#isObjectLike(schema)
      ? { kind: "record", record: this.#record(schema, this.#stable[name], name) }
      : this.#node(schema);
    return { name, node, unstable: !(name in this.#stable) };
  }

  #schema(name: string): Schema {
    const schema = this.#unstable[name];
    if (schema === undefined) throw new Error(`${name}: is referred to but not defined`);
    return schema;
  }

  #isObjectLike(schema: Schema): boolean {
    const name = refName(schema);
    if (name !== undefined && schema.type === undefined) return this.#isObjectLike(this.#schema(name));
    if (schema.type === "object")
      return schema.properties !== undefined || schema.additionalProperties === undefined;
    const branches = schema.oneOf ?? schema.anyOf;
    return branches?.every((branch) => branch.type === "object" || this.#isObjectLike(branch)) ?? false;
  }

  #node(schema: Schema): Node {
    const name = refName(schema);
    if (name !== undefined) return { kind: "ref", name };
    const branches = schema.anyOf ?? schema.oneOf;
    if (branches !== undefined) return this.#choice(branches);
    const types = Array.isArray(schema.type) ? schema.type : [schema.type];
    if (types.includes("null")) {
      const type = types.find((each) => each !== "null");
      return { kind: "nullable", node: this.#node({ ...schema, ...(type === undefined ? {} : { type }) }) };
    }
    switch (types[0]) {
      case undefined:
        return { kind: "any" };
      case "boolean":
        return { kind: "boolean" };
      case "string":
        return { kind: "string", minLength: schema.minLength ?? 0, ...textFormat(schema.format) };
      case "number":
        return { kind: "number", ...bounds(schema.minimum, schema.maximum) };
      case "integer": {
        const [low, high] = integerBounds[schema.format ?? ""] ?? [];
        return { kind: "integer", ...bounds(schema.minimum ?? low, schema.maximum ?? high) };
      }
      case "array":
        return { kind: "array", items: this.#node(schema.items ?? {}), minItems: schema.minItems ?? 0 };
      case "object": {
        const values = schema.additionalProperties;
        return { kind: "map", values: typeof values === "object" ? this.#node(values) : { kind: "any" } };
      }
      default:
        throw new Error(`type ${JSON.stringify(schema.type)} is new to the generator`);
    }
  }

  #choice(branches: Schema[]): Node {
    const nonNull = branches.filter((branch) => branch.type !== "null");
    if (nonNull.length < branches.length) return { kind: "nullable", node: this.#choice(nonNull) };
    const [first] = nonNull;
    if (nonNull.length === 1 && first !== undefined && first.const === undefined) return this.#node(first);
    if (nonNull.some((branch) => JSON.stringify(branch) === "{}")) return { kind: "any" };
    if (nonNull.every((branch) => branch.type === "string")) {
      const values = nonNull.flatMap((branch) => (typeof branch.const === "string" ? [branch.const] : []));
      return { kind: "enum", values, open: nonNull.some((branch) => branch.const === undefined) };
    }
    // Open lists of known numbers (error codes): any number of the type will do.
    if (nonNull.every((branch) => branch.type === "integer")) {
      const open = nonNull.find((branch) => branch.const === undefined);
      if (open !== undefined) return this.#node(open);
    }
    if (nonNull.length === 2 && nonNull.every((branch) => branch.type === "array" && branch.items?.$ref)) {
      const [a, b] = nonNull.map((branch) => refName(branch.items ?? {}) ?? "") as [string, string];
      const keys = (mine: string, theirs: string): string[] => {
        const others = this.#schema(theirs).properties ?? {};
        return (this.#schema(mine).required ?? []).filter((key) => !(key in others));
      };
      const lists: [ListChoice, ListChoice] = [
        { name: a, keys: keys(a, b) },
        { name: b, keys: keys(b, a) },
      ];
      return { kind: "lists", lists, minItems: first?.minItems ?? 0 };
    }
    return { kind: "primitives", nodes: nonNull.map((branch) => this.#node(branch)) };
  }

  #record(schema: Schema, stable: Schema | undefined, from: string): Rec {
    const name = refName(schema);
    const base: Rec =
      name === undefined
        ? { fields: [], union: undefined, open: false, from }
        : this.#record(this.#schema(name), this.#stable[name], name);
    const own = Object.entries(schema.properties ?? {})
      .filter(([, property]) => property.const === undefined)
      .map(([field, property]) => this.#field(from, field, property, schema, stable));
    const branches = schema.anyOf ?? schema.oneOf;
    const [only] = branches ?? [];
    if (branches?.length === 1 && only !== undefined && own.length === 0)
      return this.#record(only, stable, from);
    const union = branches && this.#union(branches, schema, stable, from);
    if (union && base.union) throw new Error(`${from}: has two unions, which the generator cannot flatten`);
    const open = schema.additionalProperties === true || schema.unevaluatedProperties === true;
    return {
      fields: [...own, ...base.fields],
      union: union ?? base.union,
      open: open && schema.not !== undefined,
      from: own.length === 0 ? base.from : from,
    };
  }

  #field(from: string, name: string, schema: Schema, owner: Schema, stableOwner: Schema | undefined): Field {
    const stable = stableOwner?.properties?.[name];
    const check = this.#checks.get(`${from}.${name}`);
    const node = this.#node(schema);
    return {
      name,
      node: check === undefined ? node : this.#withCheck(node, check, `${from}.${name}`),
      required: owner.required?.includes(name) ?? false,
      requiredWith: Object.entries(owner.dependentRequired ?? {}).flatMap(([other, needed]) =>
        needed.includes(name) ? [other] : [],
      ),
      unstable: stableOwner !== undefined && stable === undefined ? featureOf(`${from}.${name}`) : undefined,
      patches: this.#isPatch(from, name),
      defaultOnError: schema["x-deserialize-default-on-error"] ?? false,
      skipInvalid: schema["x-deserialize-skip-invalid-items"] ?? false,
      defaultOnNull: schema["x-deserialize-default-on-null"] ?? false,
      stableDefault: (stable ?? schema).default,
      unstableDefault: schema.default,
    };
  }

  /** Puts a check on the string or number inside a node. */
  #withCheck(node: Node, check: Check, where: string): Node {
    switch (node.kind) {
      case "string":
      case "integer":
        return { ...node, check };
      case "nullable":
        return { ...node, node: this.#withCheck(node.node, check, where) };
      case "array":
        return { ...node, items: this.#withCheck(node.items, check, where) };
      case "map":
        return { ...node, values: this.#withCheck(node.values, check, where) };
      case "ref":
        return this.#withCheck(this.#node(this.#schema(node.name)), check, where);
      default:
        throw new Error(`${where}: a check cannot be put on ${node.kind}`);
    }
  }

  #union(branches: Schema[], owner: Schema, stable: Schema | undefined, from: string): Union {
    const stableTags = new Set((stable?.anyOf ?? stable?.oneOf ?? []).map((branch) => tagOf(branch)?.value));
    const tags = new Set(branches.flatMap((branch) => tagOf(branch)?.tag ?? []));
    if (tags.size === 0) return this.#keyedUnion(branches, owner.oneOf !== undefined, from);
    const [tag] = tags;
    if (tag === undefined || tags.size > 1)
      throw new Error(`${from}: has more than one tag: ${[...tags].join(", ")}`);
    const tagIsField = tag in (owner.properties ?? {});
    const cases: Case[] = [];
    let other: Rec | undefined;
    let fallback: Rec | undefined;
    for (const branch of branches) {
      // The tag may be null or absent: the record's own fields are all there is.
      if (tagIsField && branch.properties?.[tag]?.type === "null") continue;
      const value = tagOf(branch)?.value;
      const record = this.#record(branch, undefined, from);
      if (value !== undefined) {
        const isAdded = stable !== undefined && !stableTags.has(value);
        const unstable = isAdded ? featureOf(`${from}[${tag}=${value}]`) : undefined;
        const twin = cases.find((each) => sameBody(each, record, unstable));
        if (twin === undefined) cases.push({ values: [value], unstable, record });
        else twin.values.push(value);
      } else if (branch.not !== undefined) {
        other = { ...record, fields: record.fields.filter((field) => field.name !== tag) };
      } else {
        fallback = record;
      }
    }
    return { kind: "tagged", tag, tagIsField, cases, other, fallback };
  }

  #keyedUnion(branches: Schema[], exclusive: boolean, from: string): Union {
    const records = branches.map((branch) => this.#record(branch, undefined, from));
    const choices = records.map((record, index) => {
      const others = records.filter((_, each) => each !== index).flatMap((each) => each.fields);
      const own = record.fields.find(
        (field) => field.required && !others.some((other) => other.required && other.name === field.name),
      );
      if (own === undefined) throw new Error(`${from}: nothing tells its branches apart`);
      return { key: own.name, record };
    });
    return { kind: "keyed", exclusive, choices };
  }
}

function bounds(min: number | undefined, max: number | undefined): { min?: number; max?: number } {
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

/** Branches that only differ in their tag share one validator. */
function sameBody(one: Case, record: Rec, unstable: UnstableFeature | undefined): boolean {
  return one.unstable === unstable && JSON.stringify(one.record) === JSON.stringify(record);
}

function textFormat(format: string | undefined): { format?: TextFormat } {
  return format === "uri" || format === "date-time" ? { format } : {};
}
