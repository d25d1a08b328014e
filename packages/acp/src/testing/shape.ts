// Checks of a scenario: what was got, what was wanted, and where. A scenario is written by hand, so the first thing
// that is wrong is said as plainly as possible.

import { isObject } from "../base/is-object.ts";
import { type Failure, modes } from "../validation/failure.ts";
import type { Validator } from "../wire/method-row.ts";

/** A scenario that cannot be played. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  /** Where it is wrong, such as `$.turns[0].steps[2].say`. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
    this.path = path;
  }
}

/** Throws ScenarioError where the value is not as it should be. */
export interface Shape {
  /** What is wanted, in words. */
  readonly wanted: string;
  check(value: unknown, path: string): void;
}

export function got(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object") return `an object with ${Object.keys(value).join(", ") || "no keys"}`;
  const text = JSON.stringify(value) ?? typeof value;
  return `the ${typeof value} ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

function wrong(path: string, value: unknown, wanted: string): ScenarioError {
  return new ScenarioError(path, `got ${got(value)}, wanted ${wanted}`);
}

function simple(wanted: string, isRight: (value: unknown) => boolean): Shape {
  return {
    wanted,
    check(value, path) {
      if (!isRight(value)) throw wrong(path, value, wanted);
    },
  };
}

export const text = simple("text", (value) => typeof value === "string");
export const flag = simple("true or false", (value) => typeof value === "boolean");
export const yes = simple("true", (value) => value === true);
export const count = simple(
  "a whole number from 0 on",
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);
export const whole = simple("a whole number", (value) => Number.isSafeInteger(value));
export const anything = simple("anything", () => true);
export const object = simple("an object", (value) => isObject(value));

export function oneOf(...values: readonly unknown[]): Shape {
  return simple(values.map((value) => JSON.stringify(value)).join(" or "), (value) => values.includes(value));
}

export function listOf(item: Shape, wanted = `a list, each of it ${item.wanted}`): Shape {
  return {
    wanted,
    check(value, path) {
      if (!Array.isArray(value)) throw wrong(path, value, wanted);
      for (const [at, each] of value.entries()) item.check(each, `${path}[${at}]`);
    },
  };
}

export function mapOf(item: Shape): Shape {
  return {
    wanted: `an object, each of its values ${item.wanted}`,
    check(value, path) {
      object.check(value, path);
      for (const [key, each] of Object.entries(value as object)) item.check(each, member(path, key));
    },
  };
}

/** Exactly these keys. The names of required ones end with an exclamation mark. */
export function fields(wanted: string, shapes: Readonly<Record<string, Shape>>): Shape {
  const known = new Map(Object.entries(shapes).map(([key, shape]) => [key.replace("!", ""), shape]));
  const required = Object.keys(shapes)
    .filter((key) => key.endsWith("!"))
    .map((key) => key.slice(0, -1));
  return {
    wanted,
    check(value, path) {
      if (!isObject(value)) throw wrong(path, value, wanted);
      for (const key of required)
        if (value[key] === undefined) known.get(key)?.check(undefined, member(path, key));
      for (const [key, each] of Object.entries(value)) {
        const shape = known.get(key);
        if (shape === undefined) throw unknownKey(path, key, [...known.keys()]);
        if (each !== undefined) shape.check(each, member(path, key));
      }
    },
  };
}

/** The first of these that fits its kind of value: text, list, object, and so on. */
export function either(...shapes: readonly Shape[]): Shape {
  const wanted = shapes.map((shape) => shape.wanted).join(", or ");
  return {
    wanted,
    check(value, path) {
      const failures: ScenarioError[] = [];
      for (const shape of shapes) {
        try {
          return shape.check(value, path);
        } catch (error) {
          if (!(error instanceof ScenarioError)) throw error;
          failures.push(error);
        }
      }
      // the one that came furthest is what was meant
      const deepest = failures.reduce((best, each) => (each.path.length > best.path.length ? each : best));
      throw deepest.path === path ? wrong(path, value, wanted) : deepest;
    },
  };
}

/** As the model has it; absolute paths are not insisted on, since they may be filled in later. */
export function asInTheModel(wanted: string, validate: Validator): Shape {
  return {
    wanted,
    check(value, path) {
      const failure: Failure | undefined = validate(value, modes.strict | modes.unstable);
      if (failure === undefined) return;
      const where = failure.path.replaceAll(/\/(\d+)/g, "[$1]").replaceAll("/", ".");
      throw new ScenarioError(path + where, `got ${failure.got}, wanted ${failure.expected} (${wanted})`);
    },
  };
}

export function unknownKey(path: string, key: string, known: readonly string[]): ScenarioError {
  return new ScenarioError(
    member(path, key),
    `got a key that has no meaning here, wanted one of ${known.join(", ")}`,
  );
}

export function member(path: string, key: string): string {
  return /^\w+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** Refers to a shape that is declared further down. */
export function lazy(wanted: string, shape: () => Shape): Shape {
  return { wanted, check: (value, path) => shape().check(value, path) };
}
