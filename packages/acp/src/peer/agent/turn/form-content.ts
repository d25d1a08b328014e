// Checks the values of a form that a user filled in (A100), except patterns and formats, which are left to the app.

import type { ElicitationAsk } from "../../../model/ask.ts";

type Form = Extract<ElicitationAsk, { mode: "form" }>["requestedSchema"];
type Field = Form["properties"][string];

/** Describes the first wrong field; undefined when all are right. Never names a value, which may be a secret. */
export function formProblem(
  { properties, required }: Form,
  content: Record<string, unknown>,
): string | undefined {
  for (const name of required ?? []) {
    if (!Object.hasOwn(content, name)) return `${JSON.stringify(name)} is missing`;
  }
  for (const [name, value] of Object.entries(content)) {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined) return `${JSON.stringify(name)} was not asked for`;
    const problem = fieldProblem(field, value);
    if (problem !== undefined) return `${JSON.stringify(name)} ${problem}`;
  }
  return undefined;
}

function fieldProblem(field: Field, value: unknown): string | undefined {
  switch (field.type) {
    case "string": {
      if (typeof value !== "string") return "must be a text";
      const choices = choicesOf(field);
      if (choices !== undefined && !choices.includes(value)) return "must be one of its choices";
      return outside([...value].length, field.minLength, field.maxLength, "characters");
    }
    case "number":
    case "integer": {
      if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
      if (field.type === "integer" && !Number.isInteger(value)) return "must be a whole number";
      const { minimum, maximum } = field as { minimum?: number | null; maximum?: number | null };
      return outside(value, minimum, maximum, "as its value");
    }
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "array": {
      if (!Array.isArray(value)) return "must be a list";
      const choices = choicesOf(field.items as Choices);
      if (choices !== undefined && !value.every((item) => choices.includes(item)))
        return "must have nothing but its choices";
      const { minItems, maxItems } = field as { minItems?: number | null; maxItems?: number | null };
      return outside(value.length, minItems, maxItems, "items");
    }
    default:
      // an unknown type of field
      return undefined;
  }
}

interface Choices {
  readonly enum?: readonly string[] | null;
  readonly oneOf?: readonly { readonly const: string }[] | null;
  readonly anyOf?: readonly { readonly const: string }[] | null;
}

function choicesOf(field: Choices): readonly unknown[] | undefined {
  return field.enum ?? (field.oneOf ?? field.anyOf)?.map((choice) => choice.const);
}

function outside(
  amount: number,
  least: number | null | undefined,
  most: number | null | undefined,
  what: string,
): string | undefined {
  if (least != null && amount < least) return `must have at least ${least} ${what}`;
  if (most != null && amount > most) return `must have at most ${most} ${what}`;
  return undefined;
}
