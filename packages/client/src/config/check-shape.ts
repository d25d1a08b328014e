// Checks a config value against its shape.

import { isObject } from "@parley/acp/internal";
import type { ObjectShape, Shape } from "./shape.ts";

export interface Problem {
  /** `agent.providers.work.baseUrl` */
  readonly path: string;
  readonly message: string;
  /** A name that is not known: it does nothing, and the rest can be used. */
  readonly isUnknownName: boolean;
}

export function problemsOf(value: unknown, shape: Shape, path = ""): Problem[] {
  const wrong = (wanted: string): Problem[] => [
    { path, message: `wants ${wanted}, got ${kindOf(value)}`, isUnknownName: false },
  ];
  switch (shape.type) {
    case "boolean":
      return typeof value === "boolean" ? [] : wrong("true or false");
    case "string":
      return textProblems(value, shape.enum, shape.minLength ?? 0, wrong);
    case "integer":
    case "number": {
      const isRight =
        typeof value === "number" &&
        value >= shape.minimum &&
        (shape.type === "number" || Number.isSafeInteger(value));
      const wanted = `${shape.type === "integer" ? "a whole number" : "a number"} from ${shape.minimum} on`;
      return isRight ? [] : wrong(wanted);
    }
    case "array":
      return Array.isArray(value)
        ? value.flatMap((each, index) => problemsOf(each, shape.items, `${path}[${index}]`))
        : wrong("a list");
    case "object":
      return isObject(value) ? objectProblems(value, shape, path) : wrong("an object");
  }
}

function textProblems(
  value: unknown,
  choices: readonly string[] | undefined,
  minLength: number,
  wrong: (wanted: string) => Problem[],
): Problem[] {
  if (choices !== undefined) {
    return choices.some((each) => each === value) ? [] : wrong(`one of ${choices.join(", ")}`);
  }
  if (typeof value !== "string") return wrong("a text");
  return value.length >= minLength ? [] : wrong("a text that is not empty");
}

function objectProblems(value: Readonly<Record<string, unknown>>, shape: ObjectShape, path: string) {
  const { properties = {}, required = [], additionalProperties: others } = shape;
  const missing = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name): Problem => ({ path: at(path, name), message: "is missing", isUnknownName: false }));
  const inside = Object.entries(value).flatMap(([name, each]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : others || undefined;
    if (known !== undefined) return problemsOf(each, known, at(path, name));
    const message = `is not known; there are ${Object.keys(properties).join(", ")}`;
    return [{ path: at(path, name), message, isUnknownName: true }];
  });
  return [...missing, ...inside];
}

function at(path: string, name: string): string {
  const shown = /^[\w$-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80));
  return path === "" ? shown : `${path}.${shown}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value === "" ? "an empty text" : "another text";
  return typeof value === "number" ? String(value) : typeof value === "boolean" ? String(value) : "an object";
}
