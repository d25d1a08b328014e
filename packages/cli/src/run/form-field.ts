// Parses and validates the answer to one field of a form.

import type { ElicitationAsk } from "@parley/acp";

export type Field = Extract<ElicitationAsk, { mode: "form" }>["requestedSchema"]["properties"][string];

export interface FormChoice {
  readonly value: string;
  readonly name: string;
}

const kinds = ["string", "number", "integer", "boolean", "array"];

/** Lists are supported only with a fixed choice of items (C47). */
export function isKnownField(field: Field): boolean {
  return kinds.includes(field.type) && (field.type !== "array" || formChoices(field).length > 0);
}

export function formChoices(field: Field): FormChoice[] {
  const source = (field.type === "array" ? field["items"] : field) as
    | Readonly<Record<string, unknown>>
    | undefined; // a type that is open
  const { enum: words, oneOf, anyOf } = source ?? {};
  const titled = oneOf ?? anyOf;
  if (Array.isArray(titled)) {
    return titled.map((choice: { const: string; title?: string }) => ({
      value: choice.const,
      name: choice.title ?? choice.const,
    }));
  }
  return Array.isArray(words) ? words.map((word) => ({ value: String(word), name: String(word) })) : [];
}

/** Undefined for an invalid answer. */
export function fieldValue(field: Field, choices: readonly FormChoice[], answer: string): unknown {
  const chosen = (word: string) =>
    (choices[Number(word) - 1] ?? choices.find(({ value }) => value === word))?.value;
  switch (field.type) {
    case "boolean":
      return /^(?:y|yes|true)$/i.test(answer) ? true : /^(?:n|no|false)$/i.test(answer) ? false : undefined;
    case "number":
    case "integer": {
      const number = Number(answer);
      return Number.isFinite(number) && (field.type === "number" || Number.isInteger(number))
        ? number
        : undefined;
    }
    case "array": {
      const values = answer.split(/[\s,]+/).map(chosen);
      return values.includes(undefined) ? undefined : values;
    }
    default:
      return choices.length === 0 ? answer : chosen(answer);
  }
}

/** The limit that the value exceeds. */
export function fieldProblem(field: Field, value: unknown): string | undefined {
  const limit = (name: string) =>
    typeof field[name as keyof Field] === "number" ? Number(field[name as keyof Field]) : undefined; // any JSON
  if (typeof value === "string")
    return outside([...value].length, limit("minLength"), limit("maxLength"), " characters");
  if (typeof value === "number") return outside(value, limit("minimum"), limit("maximum"), "");
  if (Array.isArray(value)) return outside(value.length, limit("minItems"), limit("maxItems"), " items");
  return undefined;
}

function outside(
  amount: number,
  least: number | undefined,
  most: number | undefined,
  what: string,
): string | undefined {
  if (least !== undefined && amount < least) return `at least ${least}${what}`;
  return most !== undefined && amount > most ? `at most ${most}${what}` : undefined;
}
