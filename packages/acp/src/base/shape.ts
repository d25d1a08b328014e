// Checks JSON values against shapes, a subset of JSON Schema.

import { isObject } from "./objects.ts";

export type Shape =
  | {
      readonly type: "string";
      readonly description?: string;
      readonly enum?: readonly string[];
      readonly minLength?: number;
    }
  | { readonly type: "integer" | "number"; readonly description?: string; readonly minimum?: number }
  | { readonly type: "boolean"; readonly description?: string }
  | {
      readonly type: "array";
      readonly title?: string;
      readonly description?: string;
      readonly items: Shape;
    }
  | ObjectShape
  | CustomShape;

export interface ObjectShape {
  readonly type: "object";
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  /** The shape of properties that are not listed; false: there are none. */
  readonly additionalProperties: Shape | false;
}

/** For checks that JSON Schema does not have. */
export interface CustomShape {
  readonly title: string;
  check(value: unknown, path: ShapePath): readonly ShapeProblem[];
}

export type ShapePath = readonly (string | number)[];

export interface ShapeProblem {
  readonly path: ShapePath;
  /** `unknown`: the property is not part of the shape. */
  readonly kind: "wrong" | "missing" | "unknown";
  /** In words; of an unknown property the names of the known ones. */
  readonly wanted: string;
  readonly value: unknown;
  /** The value in words, where a custom shape has them. */
  readonly got?: string;
}

/** All problems of a value, in its order. */
export function problemsOf(value: unknown, shape: Shape, path: ShapePath = []): readonly ShapeProblem[] {
  if ("check" in shape) return shape.check(value, path);
  if (!hasType(value, shape)) return [{ path, kind: "wrong", wanted: wantedBy(shape, value), value }];
  if (shape.type === "array")
    return (value as unknown[]).flatMap((each, at) => problemsOf(each, shape.items, [...path, at]));
  return shape.type === "object" && isObject(value) ? propertyProblems(value, shape, path) : [];
}

function hasType(value: unknown, shape: Exclude<Shape, CustomShape>): boolean {
  switch (shape.type) {
    case "string":
      if (typeof value !== "string" || value.length < (shape.minLength ?? 0)) return false;
      return shape.enum?.includes(value) ?? true;
    case "integer":
    case "number":
      if (typeof value !== "number" || value < (shape.minimum ?? Number.NEGATIVE_INFINITY)) return false;
      return shape.type === "number" || Number.isSafeInteger(value);
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
  }
}

function propertyProblems(
  value: Readonly<Record<string, unknown>>,
  { properties = {}, required = [], additionalProperties: others }: ObjectShape,
  path: ShapePath,
): readonly ShapeProblem[] {
  const missing = required.flatMap((name) =>
    value[name] === undefined ? problemsOf(undefined, properties[name] as Shape, [...path, name]) : [],
  );
  const present = Object.entries(value).flatMap(([name, each]): readonly ShapeProblem[] => {
    const shape = Object.hasOwn(properties, name) ? properties[name] : others || undefined;
    if (shape !== undefined) return each === undefined ? [] : problemsOf(each, shape, [...path, name]);
    const wanted = Object.keys(properties).join(", ");
    return [{ path: [...path, name], kind: "unknown", wanted, value: each }];
  });
  return [...missing.map((problem) => ({ ...problem, kind: "missing" as const })), ...present];
}

/** The shape in words, for this value. */
export function wantedBy(shape: Shape, value?: unknown): string {
  if ("check" in shape) return shape.title;
  switch (shape.type) {
    case "string":
      if (shape.enum !== undefined) return `one of ${shape.enum.join(", ")}`;
      return value === "" ? "a text that is not empty" : "a text";
    case "integer":
    case "number": {
      const from = shape.minimum === undefined ? "" : ` from ${shape.minimum} on`;
      return `${shape.type === "integer" ? "a whole number" : "a number"}${from}`;
    }
    case "boolean":
      return "true or false";
    case "array":
      return shape.title ?? "a list";
    case "object":
      return shape.title ?? "an object";
  }
}

/** Any JSON value. */
export const anyValue: Shape = { title: "any value", check: () => [] };
/** Any object. */
export const anyObject: Shape = { type: "object", additionalProperties: anyValue };
export const text: Shape = { type: "string" };
export const flag: Shape = { type: "boolean" };
export const count: Shape = { type: "integer", minimum: 0 };

export function listOf(items: Shape): Shape {
  return { type: "array", items };
}

/** An object with exactly these properties. Those in `given` are required. */
export function fields(
  given: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): ObjectShape {
  const properties = { ...given, ...optional };
  return { type: "object", properties, required: Object.keys(given), additionalProperties: false };
}
