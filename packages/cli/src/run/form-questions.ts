// A form, one question per field. Wrong answers are asked again; the end of the input gives up.

import type { ElicitationAnswer, ElicitationAsk } from "@parley/acp";
import { safeLine } from "./safe-text.ts";

type Form = Extract<ElicitationAsk, { mode: "form" }>["requestedSchema"];
type Field = Form["properties"][string];

interface Choice {
  readonly value: string;
  readonly name: string;
}

export async function fillForm(
  { properties, required }: Form,
  ask: (question: string) => Promise<string | undefined>,
  write: (text: string) => void,
): Promise<ElicitationAnswer> {
  const content: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties)) {
    const isRequired = required?.includes(name) === true;
    const choices = choicesOf(field);
    for (const [at, choice] of choices.entries()) write(`    ${at + 1}  ${safeLine(choice.name)}\n`);
    for (;;) {
      const answer = await ask(`  ${label(name, field, isRequired)}: `);
      if (answer === undefined) return { action: "cancel" };
      const value = answer.trim() === "" ? field["default"] : fieldValue(field, choices, answer.trim());
      if (value !== undefined && value !== null) content[name] = value;
      else if (answer.trim() !== "" || isRequired) {
        write(`  ${wanted(field, choices)}\n`);
        continue;
      }
      break;
    }
  }
  return { action: "accept", content };
}

function label(name: string, field: Field, isRequired: boolean): string {
  const { title, description, default: usual } = field as Record<string, unknown>; // of a type that is open
  const words = safeLine(typeof title === "string" && title !== "" ? title : name);
  const more = typeof description === "string" && description !== "" ? ` (${safeLine(description)})` : "";
  const otherwise =
    usual == null ? (isRequired ? "" : " [Enter for nothing]") : ` [${safeLine(String(usual))}]`;
  return `${words}${more}${otherwise}`;
}

function fieldValue(field: Field, choices: readonly Choice[], answer: string): unknown {
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

function wanted(field: Field, choices: readonly Choice[]): string {
  if (field.type === "array") return `give numbers from 1 to ${choices.length}, with commas between them`;
  if (choices.length > 0) return `give a number from 1 to ${choices.length}`;
  if (field.type === "boolean") return "give y or n";
  if (field.type === "number" || field.type === "integer")
    return `give a ${field.type === "integer" ? "whole " : ""}number`;
  return "an answer is needed; Ctrl-D gives up";
}

function choicesOf(field: Field): Choice[] {
  const source = (field.type === "array" ? field["items"] : field) as Record<string, unknown> | undefined; // open
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
