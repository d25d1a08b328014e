// Validates with ajv, the official schema and the three x-deserialize rules. It shares no code with the generator on
// purpose.

import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject } from "../../src/base/objects.ts";
import type { SchemaEdit } from "./exceptions.ts";

export interface Schema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  default?: unknown;
  const?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  minLength?: number;
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  $defs?: Record<string, Schema>;
}

type Check = (value: unknown) => boolean;
type Json = Record<string, unknown>;

/** Where a walk through a value is, and the only place that it is interested in, if there is one. */
interface Walk {
  readonly at: string;
  readonly target?: string;
}

/**
 * Formats are annotations in JSON Schema 2020-12, so `uri`, `date-time` and `regex` say nothing about validity.
 * The bounds of small integers are only said by their format, so those do. 64-bit numbers stay unbounded:
 * JSON.parse has rounded them already.
 */
const formats = {
  uint16: { type: "number", validate: (n: number) => n >= 0 && n <= 0xffff },
  uint32: { type: "number", validate: (n: number) => n >= 0 && n <= 0xffffffff },
  int32: { type: "number", validate: (n: number) => n >= -0x80000000 && n <= 0x7fffffff },
  uint64: true,
  int64: true,
  double: true,
  uri: true,
  regex: true,
  "date-time": true,
} as const;

export class Oracle {
  readonly definitions: Record<string, Schema>;
  readonly #root: Schema;
  readonly #ajv: Ajv2020;
  /** By pointer, and by the text of the schema there. */
  readonly #checks = new Map<string, Check>();
  readonly #schemas = new Map<string, Schema>();

  /** `edits` are the listed exceptions; without them this is the official schema as it is. */
  constructor(schema: Schema, edits: readonly SchemaEdit[] = []) {
    this.#root = structuredClone(schema);
    this.definitions = this.#root.$defs ?? {};
    for (const edit of edits) {
      const definition = this.definitions[edit.definition];
      if (definition !== undefined) edit.change(definition);
    }
    // Compiling 800 definitions takes longer than trying them: no inlining, no optimiser.
    const code = { optimize: false };
    this.#ajv = new Ajv2020({ strict: false, formats, inlineRefs: false, validateSchema: false, code });
    this.#ajv.addSchema(this.#root, "root");
  }

  /** Whether ajv accepts the value as it is. */
  accepts(definition: string, value: unknown): boolean {
    return this.#valid(`/$defs/${definition}`, value);
  }

  /** The value after the three rules, and whether ajv accepts it then. */
  decode(definition: string, value: unknown): { accepted: boolean; value: unknown } {
    const normalised = this.#normalise(`/$defs/${definition}`, value);
    return { accepted: this.accepts(definition, normalised), value: normalised };
  }

  /**
   * Every place where a refused value (as `decode` returns it) is wrong, as JSON pointers. Of a union whose branches
   * have tags, the places in the branch with the value's tag, or the tag itself where no branch has it; of a union
   * without tags, the union's own place and those in its branches, since nobody can know which one was meant.
   */
  wrongPlaces(definition: string, value: unknown): Set<string> {
    return new Set(this.#places(`/$defs/${definition}`, value, { at: "" }));
  }

  /** Whether the place is among them; the rest of the value is not looked at. */
  isWrongAt(definition: string, value: unknown, place: string): boolean {
    return this.#places(`/$defs/${definition}`, value, { at: "", target: place }).includes(place);
  }

  #places(pointer: string, value: unknown, walk: Walk): string[] {
    if (this.#valid(pointer, value)) return [];
    const schema = this.#at(pointer);
    const places = [
      ...(schema.$ref === undefined ? [] : this.#places(schema.$ref.slice(1), value, walk)),
      ...[...(schema.allOf ?? []).keys()].flatMap((i) => this.#places(`${pointer}/allOf/${i}`, value, walk)),
      ...this.#placesInside(pointer, value, walk),
      ...(["anyOf", "oneOf"] as const).flatMap((keyword) => {
        const branches = [...(schema[keyword] ?? []).keys()].map((i) => `${pointer}/${keyword}/${i}`);
        return this.#placesInUnion(branches, value, walk);
      }),
    ];
    return places.length > 0 ? places : [walk.at];
  }

  #placesInside(pointer: string, value: unknown, walk: Walk): string[] {
    const { items, required = [], properties = {}, additionalProperties } = this.#at(pointer);
    const { at, target } = walk;
    const inner = (schema: string, each: unknown, place: string) => {
      const isOnTheWay = target === undefined || target === at || `${target}/`.startsWith(`${place}/`);
      return isOnTheWay ? this.#places(schema, each, { ...walk, at: place }) : [];
    };
    if (Array.isArray(value)) {
      return items === undefined
        ? []
        : value.flatMap((item, i) => inner(`${pointer}/items`, item, `${at}/${i}`));
    }
    if (!isObject(value)) return [];
    return [
      ...required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}/${name}`),
      ...Object.entries(value).flatMap(([name, each]) => {
        const place = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        if (Object.hasOwn(properties, name)) return inner(`${pointer}/properties/${name}`, each, place);
        if (typeof additionalProperties !== "object") return [];
        return inner(`${pointer}/additionalProperties`, each, place);
      }),
    ];
  }

  #placesInUnion(branches: string[], value: unknown, walk: Walk): string[] {
    if (branches.length === 0 || branches.some((branch) => this.#valid(branch, value))) return [];
    const { at } = walk;
    const tagged = branches.map((branch) => ({
      branch,
      tags: Object.entries(this.#at(branch).properties ?? {}).filter(([, each]) => each.const !== undefined),
    }));
    const untagged = tagged.filter(({ tags }) => tags.length === 0);
    const anywhere = () => untagged.flatMap(({ branch }) => [at, ...this.#places(branch, value, walk)]);
    if (!isObject(value)) return [at, ...anywhere()];
    const meant = tagged.filter(
      ({ tags }) => tags.length > 0 && tags.every(([name, each]) => each.const === value[name]),
    );
    if (meant.length > 0) return meant.flatMap(({ branch }) => this.#places(branch, value, walk));
    return [...tagged.flatMap(({ tags }) => tags.map(([name]) => `${at}/${name}`)), ...anywhere()];
  }

  #at(pointer: string): Schema {
    const known = this.#schemas.get(pointer);
    if (known !== undefined) return known;
    let schema: unknown = this.#root;
    for (const part of pointer.split("/").slice(1)) schema = (schema as Json)[part];
    this.#schemas.set(pointer, schema as Schema);
    return schema as Schema;
  }

  #valid(pointer: string, value: unknown): boolean {
    let check = this.#checks.get(pointer);
    if (check === undefined) {
      // References are absolute, so equal text means equal meaning: `_meta` is compiled once, not 200 times.
      const text = JSON.stringify(this.#at(pointer));
      check = this.#checks.get(text) ?? this.#compiled(pointer);
      this.#checks.set(text, check);
      this.#checks.set(pointer, check);
    }
    return check(value);
  }

  #compiled(pointer: string): Check {
    const compiled = this.#ajv.getSchema(`root#${pointer}`);
    if (compiled === undefined) throw new Error(`ajv cannot resolve ${pointer}`);
    return (value) => compiled(value) === true;
  }

  #normalise(pointer: string, value: unknown): unknown {
    const schema = this.#at(pointer);
    let result = value;
    if (schema.$ref !== undefined) result = this.#normalise(schema.$ref.slice(1), result);
    for (const index of (schema.allOf ?? []).keys())
      result = this.#normalise(`${pointer}/allOf/${index}`, result);
    if (Array.isArray(result) && schema.items !== undefined) {
      const items = `${pointer}/items`;
      result = result.map((item) => this.#normalise(items, item));
      if (schema["x-deserialize-skip-invalid-items"] === true) {
        result = (result as unknown[]).filter((item) => this.#valid(items, item));
      }
    } else if (isObject(result)) {
      result = this.#properties(pointer, schema, result);
    }
    for (const keyword of ["anyOf", "oneOf"] as const) {
      const branches = [...(schema[keyword] ?? []).keys()].map((index) => `${pointer}/${keyword}/${index}`);
      result = this.#union(branches, result);
    }
    return result;
  }

  /** What the first branch that takes the value makes of it; if none does, what the one with its tag makes of it. */
  #union(branches: string[], value: unknown): unknown {
    let meant: unknown;
    for (const branch of branches) {
      const tags = Object.entries(this.#at(branch).properties ?? {}).filter(
        ([, each]) => each.const !== undefined,
      );
      if (isObject(value) && !tags.every(([name, property]) => property.const === value[name])) continue;
      const candidate = this.#normalise(branch, value);
      if (this.#valid(branch, candidate)) return candidate;
      if (tags.length > 0) meant ??= candidate;
    }
    return meant ?? value;
  }

  #properties(pointer: string, schema: Schema, value: Json): Json {
    const result: Json = { ...value };
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (!Object.hasOwn(value, name)) continue;
      const each = this.#property(`${pointer}/properties/${name}`, property, value[name]);
      if (each === undefined) delete result[name];
      else result[name] = each;
    }
    if (typeof schema.additionalProperties !== "object") return result;
    for (const name of Object.keys(value)) {
      if (schema.properties !== undefined && name in schema.properties) continue;
      const each = this.#normalise(`${pointer}/additionalProperties`, value[name]);
      // Not an assignment: `__proto__` is a key like any other here.
      Object.defineProperty(result, name, {
        value: each,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return result;
  }

  /** The three rules; undefined stands for a property that goes away. */
  #property(pointer: string, schema: Schema, value: unknown): unknown {
    if (schema["x-deserialize-default-on-null"] === true && value === null) {
      return schema.type === "array" ? [] : {};
    }
    const result = this.#normalise(pointer, value);
    if (schema["x-deserialize-default-on-error"] !== true || this.#valid(pointer, result)) return result;
    if (schema.default !== undefined) return schema.default;
    return schema.type === "array" ? [] : undefined;
  }
}
