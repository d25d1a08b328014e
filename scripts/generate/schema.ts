// Loads the four JSON Schemas of the pinned SDK and holds what we know about their relation: unstable is
// stable plus additions. Anything else that changed between the two stops the generator, so that an
// upgrade of the SDK cannot slip a new kind of difference past the validators.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "./checks.ts";

/** The JSON Schema keywords that the protocol's schemas use. Prose is dropped while loading. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: string | number;
  enum?: string[];
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  minItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  dependentRequired?: Record<string, string[]>;
  additionalProperties?: boolean | Schema;
  unevaluatedProperties?: boolean;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  $defs?: Record<string, Schema>;
  "x-side"?: string;
  "x-method"?: string;
  "x-deserialize-default-on-error"?: boolean;
  "x-deserialize-skip-invalid-items"?: boolean;
  "x-deserialize-default-on-null"?: boolean;
  /** Only in our schemas of dialects, in place of the table in checks.ts. */
  "x-check"?: Check;
  /** Not in the schema: whether its prose calls the value an absolute path. Used to find forgotten checks. */
  mentionsAbsolute?: boolean;
}

export type Version = "v1" | "v2";
/** The dialects of version 1. For each there is a small schema of ours in `dialects`. */
export const dialects = ["pharo", "scoped"] as const;
export type Dialect = (typeof dialects)[number];
export function isDialect(version: Version | Dialect): version is Dialect {
  return dialects.some((dialect) => dialect === version);
}

export type Definitions = Record<string, Schema>;
export interface SchemaPair {
  version: Version | Dialect;
  stable: Definitions;
  unstable: Definitions;
}

const prose = new Set(["description", "title", "x-docs-ignore", "discriminator", "contentEncoding"]);

function withoutProse(value: unknown, insideNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutProse(item, false));
  if (typeof value !== "object" || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    if (!insideNames && prose.has(key)) continue;
    const verbatim = !insideNames && (key === "default" || key === "const");
    result[key] = verbatim
      ? child
      : withoutProse(child, !insideNames && (key === "properties" || key === "$defs"));
  }
  const description = (value as { description?: unknown }).description;
  if (!insideNames && typeof description === "string" && /\babsolute\b/i.test(description)) {
    result.mentionsAbsolute = true;
  }
  return result;
}

/** Reads the stable and the unstable schema of one version from the installed SDK. */
export function loadSchemas(version: Version): SchemaPair {
  const folder = join(import.meta.dirname, "../../node_modules/@agentclientprotocol/sdk/schema", version);
  const read = (file: string): Definitions => {
    const parsed = withoutProse(JSON.parse(readFileSync(join(folder, file), "utf8")), false) as Schema;
    return parsed.$defs ?? {};
  };
  return schemaPair(version, read("schema.json"), read("schema.unstable.json"));
}

/** The schema of a dialect. Every object of it may have `_meta`. */
export function loadDialect(dialect: Dialect): SchemaPair {
  const file = join(import.meta.dirname, "dialects", `${dialect}.json`);
  const parsed = withoutProse(JSON.parse(readFileSync(file, "utf8")), false) as Schema;
  const _meta: Schema = { type: "object", additionalProperties: true };
  const definitions = Object.entries(parsed.$defs ?? {}).map(([name, schema]): [string, Schema] => {
    const isRecord = schema.properties !== undefined && schema.oneOf === undefined;
    return [name, isRecord ? { ...schema, properties: { ...schema.properties, _meta } } : schema];
  });
  const all = Object.fromEntries(definitions);
  return { version: dialect, stable: all, unstable: all };
}

/** Where the facts of generated code come from, for its header. */
export function sourceOf(version: SchemaPair["version"]): string {
  return isDialect(version)
    ? `scripts/generate/dialects/${version}.json`
    : "the JSON Schemas of the pinned SDK";
}

/** Throws where unstable is anything but stable plus additions. */
export function schemaPair(version: Version, stable: Definitions, unstable: Definitions): SchemaPair {
  for (const [name, schema] of Object.entries(stable)) {
    const other = unstable[name];
    if (other === undefined)
      throw new Error(`${version} ${name}: is stable but missing from the unstable schema`);
    if (!isEnvelope(name)) requireOnlyAdditions(schema, other, `${version} ${name}`);
  }
  return { version, stable, unstable };
}

/** Definitions that only describe the JSON-RPC envelope, or nothing at all. */
export function isEnvelope(name: string): boolean {
  return /^(Agent|Client|Proxy)(Request|Response|Notification)$|^Ext(Request|Response|Notification)$/.test(
    name,
  );
}

/** The name that a `$ref`, or an `allOf` with one `$ref`, points to. */
export function refName(schema: Schema): string | undefined {
  const target = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
  return target?.slice("#/$defs/".length);
}

/** The property whose constant tells the branches of a union apart, with this branch's constant. */
export function tagOf(branch: Schema): { tag: string; value: string } | undefined {
  for (const name of branch.required ?? []) {
    const value = branch.properties?.[name]?.const;
    if (typeof value === "string") return { tag: name, value };
  }
  return undefined;
}

function requireOnlyAdditions(stable: Schema, unstable: Schema, where: string): void {
  const additive = new Set(["properties", "anyOf", "oneOf", "not", "default", "mentionsAbsolute"]);
  const keys = new Set([...Object.keys(stable), ...Object.keys(unstable)] as (keyof Schema)[]);
  for (const key of keys) {
    if (!additive.has(key) && JSON.stringify(stable[key]) !== JSON.stringify(unstable[key])) {
      throw new Error(
        `${where}: ${key} differs between the stable and the unstable schema; teach the generator first`,
      );
    }
  }
  for (const [name, schema] of Object.entries(stable.properties ?? {})) {
    const other = unstable.properties?.[name];
    if (other === undefined)
      throw new Error(`${where}.${name}: is stable but missing from the unstable schema`);
    requireOnlyAdditions(schema, other, `${where}.${name}`);
  }
  for (const key of ["anyOf", "oneOf"] as const) {
    const known = new Set(
      (unstable[key] ?? []).map((branch) => JSON.stringify({ ...branch, not: undefined })),
    );
    for (const branch of stable[key] ?? []) {
      if (!known.has(JSON.stringify({ ...branch, not: undefined }))) {
        throw new Error(`${where}: a branch of ${key} differs between the stable and the unstable schema`);
      }
    }
    const stableBranches = new Set(
      (stable[key] ?? []).map((branch) => JSON.stringify({ ...branch, not: undefined })),
    );
    for (const branch of unstable[key] ?? []) {
      const isNew = !stableBranches.has(JSON.stringify({ ...branch, not: undefined }));
      if (isNew && tagOf(branch) === undefined) {
        throw new Error(`${where}: an unstable branch of ${key} has no tag to switch on`);
      }
    }
  }
}
