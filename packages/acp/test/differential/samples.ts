// Generates values from a schema, and damages them. Seeded, so that a failure can be repeated.

import { isObject } from "../../src/base/objects.ts";
import type { Random } from "../support/random.ts";
import type { Schema } from "./oracle.ts";

const texts = ["a", "/w/x.ts", "C:\\w", "two words", "ünï", "", "\u0000", "\ud800", "_x", "https://a.b/c"];
const junk = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  65_536,
  2 ** 32,
  2 ** 53,
  1e300,
  "",
  "zz",
  [],
  [null],
  {},
  { type: "zz" },
];

/** A value that the definition accepts, without any key that it does not name. */
export function validSample(definitions: Record<string, Schema>, name: string, random: Random): unknown {
  const generate = (schema: Schema): unknown => {
    if (schema.const !== undefined) return schema.const;
    if (schema.$ref !== undefined) return generate(definitions[schema.$ref.slice("#/$defs/".length)] ?? {});
    const branches = schema.anyOf ?? schema.oneOf ?? [];
    const parts = [...(schema.allOf ?? []), ...(branches.length > 0 ? [random.pick(branches)] : [])].map(
      generate,
    );
    if (schema.properties === undefined && parts.length > 0) return merged(parts);
    if (parts.length > 0 && !parts.every(isObject)) return parts.at(-1);
    return merged([own(schema), ...parts]);
  };
  const own = (schema: Schema): unknown => {
    const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
    switch (type) {
      case undefined:
        return schema.properties === undefined
          ? random.pick([1, "x", { a: [1] }, null, [true]])
          : object(schema);
      case "null":
        return null;
      case "boolean":
        return random.chance(0.5);
      case "string":
        // The open branch of a union takes any string but the known tags.
        return schema.minLength ? "t" : random.pick(texts);
      case "integer":
        return (schema.minimum ?? 0) + random.below(3);
      case "number":
        return schema.maximum === undefined
          ? random.pick([0, 1, 0.5, -2, 1e21])
          : schema.maximum * random.next();
      case "array": {
        const length = (schema.minItems ?? 0) + random.below(3);
        return Array.from({ length }, () => generate(schema.items ?? {}));
      }
      case "object":
        return object(schema);
      default:
        throw new Error(`no sample for type ${type}`);
    }
  };
  const object = (schema: Schema): Record<string, unknown> => {
    const result: Record<string, unknown> = {};
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      if (schema.required?.includes(key) || random.chance(0.5)) result[key] = generate(property);
    }
    if (schema.properties === undefined && schema.additionalProperties) {
      const values = schema.additionalProperties === true ? {} : schema.additionalProperties;
      for (let i = random.below(3); i > 0; i--)
        result[random.pick(["k", "a/b", "x~y", "constructor"])] = generate(values);
    }
    return result;
  };
  return generate(definitions[name] ?? {});
}

/** Damages a value in one to three places. Returns JSON text, where also `__proto__` can be a key. */
export function damaged(value: unknown, other: unknown, random: Random): string {
  const holder = { root: copy(value) };
  for (let i = 1 + random.below(3); i > 0; i--) damage(holder, other, random);
  const text = JSON.stringify(holder.root ?? null);
  return random.chance(0.02) ? text.replace(/\{(?!\})/, '{"__proto__":{"polluted":1},') : text;
}

function damage(holder: { root: unknown }, other: unknown, random: Random): void {
  const { parent, key } = random.pick(places(holder));
  const container = parent as Record<string, unknown>;
  switch (random.below(7)) {
    case 0:
    case 6:
      container[key] = copy(random.pick(junk));
      return;
    case 1:
      container[key] = null;
      return;
    case 2:
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else if (parent !== holder) delete container[key];
      return;
    case 3: {
      const value = container[key];
      if (isObject(value))
        (value as Record<string, unknown>)[
          random.pick(["custom", "type", "description", "_meta", "group", "value"])
        ] = copy(random.pick(junk));
      else if (Array.isArray(value)) value.splice(random.below(value.length + 1), 0, copy(random.pick(junk)));
      return;
    }
    case 4: {
      // A piece of another sample in this place: the right shape somewhere else.
      const source = random.pick(places({ root: copy(other) }));
      container[key] = (source.parent as Record<string, unknown>)[source.key];
      return;
    }
    default: {
      // The same keys with another sample's values, as when a tag and its payload do not belong together.
      const value = container[key];
      const source = copy(other);
      if (isObject(value) && isObject(source)) Object.assign(value, source);
    }
  }
}

function places(holder: { root: unknown }): { parent: object; key: string }[] {
  const result: { parent: object; key: string }[] = [];
  const walk = (parent: object): void => {
    for (const key of Object.keys(parent)) {
      result.push({ parent, key });
      const child = (parent as Record<string, unknown>)[key];
      if (typeof child === "object" && child !== null) walk(child);
    }
  };
  walk(holder);
  return result;
}

/** Everything here is JSON, and structuredClone is many times slower. */
function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value ?? null));
}

function merged(parts: unknown[]): unknown {
  return parts.every(isObject) ? Object.assign({}, ...parts) : parts.at(-1);
}
