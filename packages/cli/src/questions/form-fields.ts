// The fields of a form that an agent asks to fill in: what they are called, what is a value, and what is wrong with one.

import type { ElicitationRequest } from "@parley/acp";
import { safeLine } from "../terminal/sanitise.ts";

export type Form = Extract<ElicitationRequest, { mode: "form" }>["requestedSchema"];

/** The fields that can be asked for; undefined if one that is required is of a kind that nobody knows. */
export function formFields(form: Form): readonly (readonly [string, Field])[] | undefined {
  const fields = Object.entries(form.properties);
  const known = fields.filter(([, field]) => isKnownField(field));
  const isAsked = (name: string) =>
    known.some(([each]) => each === name) || !Object.hasOwn(form.properties, name);
  return form.required?.every(isAsked) === false ? undefined : known;
}

export const declinedForm = "The form has a required field of an unknown type and is declined.";

/** What was typed as a value, or what is wrong with it. Nothing typed means the default, or nothing. */
export function checkedAnswer(
  field: Field,
  isRequired: boolean,
  typed: string,
): { readonly given: unknown } | { readonly problem: string } {
  const answer = typed.trim();
  const choices = formChoices(field);
  const usual = usualOf(field);
  if (answer === "" && (usual !== undefined || !isRequired)) return { given: usual };
  const value = answer === "" ? undefined : fieldValue(field, choices, answer);
  const problem = value === undefined ? expectation(field, choices) : fieldProblem(field, value);
  return problem === undefined ? { given: value } : { problem };
}

export function usualOf(field: Field): unknown {
  return field["default"] ?? undefined;
}

export function fieldLabel(name: string, field: Field, isRequired: boolean): string {
  const usual = usualOf(field);
  const description = field["description"];
  const more = typeof description === "string" && description !== "" ? ` (${safeLine(description)})` : "";
  const otherwise = usual === undefined ? (isRequired ? "" : " [empty]") : ` [${safeLine(String(usual))}]`;
  return `${fieldTitle(name, field)}${more}${otherwise}`;
}

export function fieldTitle(name: string, field: Field): string {
  const title = field["title"];
  return safeLine(typeof title === "string" && title !== "" ? title : name);
}

function expectation(field: Field, choices: readonly FormChoice[]): string {
  if (field.type === "array") return `Enter numbers from 1 to ${choices.length}, separated by commas.`;
  if (choices.length > 0) return `Enter a number from 1 to ${choices.length}.`;
  if (field.type === "boolean") return "Enter y or n.";
  if (field.type === "integer") return "Enter a whole number.";
  return field.type === "number" ? "Enter a number." : "Enter a value, or press Ctrl-D to cancel.";
}

export type Field = Extract<ElicitationRequest, { mode: "form" }>["requestedSchema"]["properties"][string];

export interface FormChoice {
  readonly value: string;
  readonly name: string;
}

const kinds = ["string", "number", "integer", "boolean", "array"];

/** Lists are supported only with a fixed choice of items. */
function isKnownField(field: Field): boolean {
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

/** A value as the user chose it: by the name of a choice, or yes and no. */
export function shownValue(field: Field, value: unknown): string {
  if (value === undefined) return "(empty)";
  if (typeof value === "boolean") return value ? "yes" : "no";
  const choices = formChoices(field);
  const nameOf = (each: unknown) => choices.find((choice) => choice.value === each)?.name ?? String(each);
  return safeLine((Array.isArray(value) ? value : [value]).map(nameOf).join(", "));
}

/** Undefined for an invalid answer. */
function fieldValue(field: Field, choices: readonly FormChoice[], answer: string): unknown {
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
