// The shapes of scenarios.

import {
  type CustomShape,
  type ObjectShape,
  problemsOf,
  type Shape,
  type ShapePath,
  type ShapeProblem,
  wantedBy,
} from "@parley/acp/internal";
import { isObject } from "@parley/acp/jsonrpc";
import { schemaProblem } from "@parley/acp/v2";
import { ScenarioError } from "./scenario-error.ts";

/** Throws ScenarioError for the first problem. */
export function checkScenario(value: unknown, shape: Shape): void {
  const [problem] = problemsOf(value, shape);
  if (problem === undefined) return;
  const { kind, wanted, value: given, got = textOf(given) } = problem;
  const message =
    kind === "unknown"
      ? `got a key that has no meaning here, wanted one of ${wanted}`
      : `got ${got}, wanted ${wanted}`;
  throw new ScenarioError(pathText(problem.path), message);
}

function textOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object") return `an object with ${Object.keys(value).join(", ") || "no keys"}`;
  const text = JSON.stringify(value) ?? typeof value;
  return `the ${typeof value} ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

function pathText(path: ShapePath): string {
  const parts = path.map((part) =>
    typeof part === "string" && /^\w+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`,
  );
  return `$${parts.join("")}`;
}

export const text: Shape = { type: "string" };
export const flag: Shape = { type: "boolean" };
export const count: Shape = { type: "integer", minimum: 0 };
export const whole: Shape = { type: "integer" };
export const anything: Shape = custom("anything", () => []);
export const json: Shape = custom("any JSON", (value, _path, wrong) => (value === undefined ? wrong : []));
export const object: Shape = { type: "object", additionalProperties: anything };
export const yes: Shape = oneOf(true);

export function listOf(items: Shape, title = `a list, each of it ${wantedBy(items)}`): Shape {
  return { type: "array", title, items };
}

export function mapOf(item: Shape): Shape {
  return {
    type: "object",
    title: `an object, each of its values ${wantedBy(item)}`,
    additionalProperties: item,
  };
}

/** Exactly these keys. The names of required ones end with an exclamation mark. */
export function fields(title: string, shapes: Readonly<Record<string, Shape>>): ObjectShape {
  const properties = Object.fromEntries(
    Object.entries(shapes).map(([key, shape]) => [key.replace("!", ""), shape]),
  );
  const required = Object.keys(shapes).filter((key) => key.endsWith("!"));
  return {
    type: "object",
    title,
    properties,
    required: required.map((key) => key.slice(0, -1)),
    additionalProperties: false,
  };
}

export function custom(
  title: string,
  check: (value: unknown, path: ShapePath, wrong: readonly ShapeProblem[]) => readonly ShapeProblem[],
): CustomShape {
  return {
    title,
    check: (value, path) => check(value, path, [{ path, kind: "wrong", wanted: title, value }]),
  };
}

export function oneOf(...values: readonly unknown[]): Shape {
  const title = values.map((value) => JSON.stringify(value)).join(" or ");
  return custom(title, (value, _path, wrong) => (values.includes(value) ? [] : wrong));
}

/** Any of these. The problem of the one that fits furthest is reported. */
export function either(...shapes: readonly Shape[]): Shape {
  return custom(shapes.map((shape) => wantedBy(shape)).join(", or "), (value, path, wrong) => {
    const all = shapes.map((shape) => problemsOf(value, shape, path));
    if (all.some((problems) => problems.length === 0)) return [];
    const depth = (problems: readonly ShapeProblem[]) => problems[0]?.path.length ?? 0;
    const deepest = all.reduce((best, each) => (depth(each) > depth(best) ? each : best));
    return depth(deepest) === path.length ? wrong : deepest;
  });
}

/** A type of version 2's schema. `complete` adds what a scenario leaves out. */
export function ofSchema(
  title: string,
  type: string,
  complete: (value: Readonly<Record<string, unknown>>) => object = (value) => value,
): Shape {
  return custom(title, (value, path) => {
    const problem = schemaProblem(type, isObject(value) ? complete(value) : value);
    if (problem === undefined) return [];
    const inside = problem.path.split("/").slice(1);
    const parts = inside.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    const { got, expected } = problem;
    return [{ path: [...path, ...parts], kind: "wrong", wanted: `${expected} (${title})`, got, value }];
  });
}

/** Refers to a shape that is declared further down. */
export function lazy(title: string, shape: () => Shape): Shape {
  return custom(title, (value, path) => problemsOf(value, shape(), path));
}

/** The value of each verb, and its options. */
export type VerbShapes<Verb extends string = string> = Readonly<
  Record<Verb, readonly [Shape, Readonly<Record<string, Shape>>?]>
>;

/** `ambiguous` is a verb that is also an option of others. */
export function stepOf(verbs: VerbShapes, ambiguous?: string): Shape {
  const names = Object.keys(verbs);
  return custom("a step: an object with one verb", (value, path, wrong) => {
    if (!isObject(value)) return wrong;
    const all = names.filter((name) => name in value);
    const found = all.length > 1 ? all.filter((name) => name !== ambiguous) : all;
    const [verb = ""] = found;
    const entry = verbs[verb];
    if (entry === undefined || found.length > 1)
      return [{ path, kind: "wrong", wanted: `exactly one of ${names.join(", ")}`, value }];
    const [shape, options = {}] = entry;
    return problemsOf(value, fields(`a step with ${verb}`, { ...options, [`${verb}!`]: shape }), path);
  });
}
