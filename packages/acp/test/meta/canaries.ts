// Makes samples from the official schemas that have custom data in every place where the schema allows it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../src/base/objects.ts";
import type { Schema } from "../differential/oracle.ts";

/** One place of a schema: a key of `_meta` there, so that two `_meta` that become one keep both. */
export type Place = string;

const canary = "canary";

type Json = Readonly<Record<string, unknown>>;

const schemas = join(import.meta.dirname, "../../../../node_modules/@agentclientprotocol/sdk/schema");

export function definitionsOf(version: 1 | 2): Readonly<Record<string, Schema>> {
  const text = readFileSync(join(schemas, `v${version}`, "schema.unstable.json"), "utf8");
  return (JSON.parse(text) as Schema).$defs ?? {};
}

/** Values for fields whose schema says only "string" or "number", by name. */
const values: Readonly<Record<string, unknown>> = {
  protocolVersion: undefined,
  cwd: "/w",
  path: "/w/a.txt",
  oldPath: "/w/b.txt",
  newPath: "/w/c.txt",
  additionalDirectories: ["/x"],
  uri: "https://example.com/x",
  url: "https://example.com/x",
  baseUrl: "https://example.com/x",
  src: "https://example.com/x.png",
  command: "/bin/true",
  data: "aGk=",
  blob: "aGk=",
  mimeType: "text/plain",
  updatedAt: "2026-03-01T12:00:00Z",
  lastModified: "2026-03-01T12:00:00Z",
  line: 1,
  kind: undefined,
  currentValue: undefined,
  default: undefined,
  enum: undefined,
  pattern: undefined,
  minLength: undefined,
  maxLength: undefined,
  minimum: undefined,
  maximum: undefined,
  minItems: undefined,
  maxItems: undefined,
  rawInput: { a: 1 },
  rawOutput: { a: 1 },
};

export interface Sample {
  readonly value: Json;
  readonly places: readonly Place[];
}

/** Samples of a definition that together have each of its places. `where` begins the names of the places. */
export function samplesOf(version: 1 | 2, definition: string, where: string): readonly Sample[] {
  const definitions = definitionsOf(version);
  return new Generator(definitions).all({ $ref: `#/$defs/${definition}` }, where).map((value) => {
    const sample = value as Json; // messages are objects
    return { value: sample, places: placesIn(sample) };
  });
}

/** The places whose canaries are somewhere in the value. */
export function placesIn(value: unknown): Place[] {
  const found: Place[] = [];
  const walk = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    for (const [key, inner] of Object.entries(part)) {
      if (inner === canary) found.push(key);
      else walk(inner);
    }
  };
  walk(value);
  return found;
}

/** The same sample with unknown fields in place of custom data: each `_meta` gives its keys to its object. */
export function withUnknownFields({ value, places }: Sample): Sample {
  const walk = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(walk);
    if (!isObject(part)) return part;
    const { _meta, ...rest } = part;
    const inner = Object.entries(rest).map(([key, each]) => [key, walk(each)] as const);
    return Object.fromEntries([...inner, ...Object.entries(_meta ?? {})]);
  };
  return { value: walk(value) as Json, places }; // messages are objects
}

/** The parts of a value that a relay has made of unknown fields. */
export function extrasIn(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "_parley.dev/extra" ? [inner] : extrasIn(inner),
  );
}

class Generator {
  readonly #definitions: Readonly<Record<string, Schema>>;
  /** Definitions that are being written, against recursion. */
  readonly #open: string[] = [];

  constructor(definitions: Readonly<Record<string, Schema>>) {
    this.#definitions = definitions;
  }

  /** Alternatives that together have every variant. */
  all(schema: Schema, at: string, key = ""): readonly unknown[] {
    if (schema.const !== undefined) return [schema.const];
    if (schema.$ref !== undefined) return this.#definition(schema.$ref.slice("#/$defs/".length), at, key);
    if (Array.isArray(schema["enum"])) return [schema["enum"][0]];
    const union = schema.anyOf ?? schema.oneOf ?? [];
    const isEnum = union.some((branch) => branch.const !== undefined);
    // neither null nor what only newer peers say
    const known = union.filter(
      (branch) =>
        branch.type !== "null" && branch.not === undefined && (!isEnum || branch.const !== undefined),
    );
    const whole = (schema.allOf ?? []).map((part) => this.all(part, at, key));
    const branches = known.flatMap((branch) => this.all(branch, `${at}${tagOf(branch)}`, key));
    const own = schema.properties !== undefined ? this.#object(schema, at) : undefined;
    const parts = [...(own === undefined ? [] : [own]), ...whole, ...(known.length > 0 ? [branches] : [])];
    if (parts.length > 0) return zipped(parts);
    return this.#plain(schema, at, key);
  }

  #definition(name: string, at: string, key: string): readonly unknown[] {
    if (this.#open.filter((each) => each === name).length > 1) return [undefined];
    this.#open.push(name);
    const made = this.all(this.#definitions[name] ?? {}, at, key);
    this.#open.pop();
    return made;
  }

  #object(schema: Schema, at: string): readonly unknown[] {
    const fields = Object.entries(schema.properties ?? {}).map(([key, property]): unknown[] => {
      if (key === "_meta") return [{ _meta: { [at]: canary } }];
      const isNeeded = schema.required?.includes(key) === true;
      if (!isNeeded && Object.hasOwn(values, key) && values[key] === undefined) return [{}];
      return this.all(property, `${at}.${key}`, key).map((value) =>
        value === undefined ? {} : { [key]: value },
      );
    });
    // the same place in two alternatives is one place with two names
    return zipped(fields.map((alternatives) => (alternatives.length === 0 ? [{}] : alternatives))).map(
      (value, i) => (i === 0 ? value : renamed(value, at, i)),
    );
  }

  #plain(schema: Schema, at: string, key: string): readonly unknown[] {
    const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== "null") : schema.type;
    if (Object.hasOwn(values, key) && type !== "array" && type !== "object" && values[key] !== undefined)
      return [values[key]];
    switch (type) {
      case "string":
        return [key === "" ? "text" : key];
      case "integer":
      case "number":
        return [schema.minimum ?? 1];
      case "boolean":
        return [true];
      case "array": {
        if (key === "additionalDirectories") return [["/x"]];
        return [this.all(schema.items ?? {}, `${at}[]`, key).filter((item) => item !== undefined)];
      }
      case "object": {
        if (!isObject(schema.additionalProperties)) return [{}];
        const items = this.all(schema.additionalProperties, `${at}{}`);
        return [Object.fromEntries(items.map((item, i) => [`field${i}`, item]))];
      }
      default:
        return [{ any: 1 }];
    }
  }
}

/** The tag of a branch of a union, as `[plan]`. */
function tagOf({ properties = {}, title }: Schema): string {
  const tag = Object.values(properties).find((property) => property.const !== undefined)?.const;
  return tag === undefined ? (typeof title === "string" ? `[${title}]` : "") : `[${String(tag)}]`;
}

/** Objects of which each part is in at least one. Parts that are no objects stand for themselves. */
function zipped(parts: readonly (readonly unknown[])[]): unknown[] {
  const count = Math.max(1, ...parts.map((each) => each.length));
  return Array.from({ length: count }, (_, i) => {
    const chosen = parts.map((each) => each[i % each.length]);
    return chosen.every(isObject) ? Object.assign({}, ...chosen) : chosen.at(-1);
  });
}

function renamed(value: unknown, at: string, i: number): unknown {
  const json = value as Record<string, unknown>;
  return "_meta" in json ? { ...json, _meta: { [`${at}#${i}`]: canary } } : value;
}
