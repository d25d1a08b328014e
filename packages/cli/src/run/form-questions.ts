// Asks for the fields of a form, and shows it before it is sent. Patterns are left to the agent: one may never end (C46).

import type { ElicitationAnswer, ElicitationAsk } from "@parley/acp";
import { safeLine } from "../terminal/sanitise.ts";
import {
  type Field,
  type FormChoice,
  fieldProblem,
  fieldValue,
  formChoices,
  isKnownField,
} from "./form-field.ts";

type Form = Extract<ElicitationAsk, { mode: "form" }>["requestedSchema"];

/** The terminal. */
export interface Questions {
  /** Reads one line; undefined if the input ends or the question is withdrawn. */
  ask(question: string, over?: AbortSignal): Promise<string | undefined>;
  write(text: string): void;
}

export async function fillForm(
  form: Form,
  agent: string,
  { ask, write }: Questions,
): Promise<ElicitationAnswer> {
  const fields = Object.entries(form.properties).filter(([, field]) => isKnownField(field));
  const unknown = Object.keys(form.properties).filter((name) => !fields.some(([known]) => known === name));
  if (form.required?.some((name) => unknown.includes(name))) {
    write("  The form has a required field of an unknown type and is declined.\n");
    return { action: "decline" };
  }
  write("  Press Enter to use the value in brackets, Ctrl-D to cancel.\n");
  const content: Record<string, unknown> = {};
  const fill = async (name: string, field: Field): Promise<boolean> => {
    const isRequired = form.required?.includes(name) === true;
    const value = await answered(name, field, isRequired, { ask, write });
    if (value === undefined) return false;
    if (value.given === undefined) delete content[name];
    else content[name] = value.given;
    return true;
  };
  for (const [name, field] of fields) if (!(await fill(name, field))) return { action: "cancel" };
  for (;;) {
    for (const [at, [name, field]] of fields.entries()) {
      write(
        `  ${at + 1}  ${titleOf(name, field)}: ${name in content ? safeLine(String(content[name])) : "(empty)"}\n`,
      );
    }
    const answer = (
      await ask(`  Send this to ${safeLine(agent)}? (y, n, or a number to change a field) `)
    )?.trim();
    if (answer === undefined) return { action: "cancel" };
    if (/^y(?:es)?$/i.test(answer)) return { action: "accept", content };
    if (/^no?$/i.test(answer)) return { action: "decline" };
    const chosen = fields[Number(answer) - 1];
    if (chosen !== undefined && !(await fill(...chosen))) return { action: "cancel" };
  }
}

/** Undefined if the user cancelled. */
async function answered(
  name: string,
  field: Field,
  isRequired: boolean,
  { ask, write }: Questions,
): Promise<{ readonly given: unknown } | undefined> {
  const choices = formChoices(field);
  for (const [at, choice] of choices.entries()) write(`    ${at + 1}  ${safeLine(choice.name)}\n`);
  const usual = field["default"] ?? undefined;
  for (;;) {
    const answer = await ask(`  ${label(name, field, usual, isRequired)}: `);
    if (answer === undefined) return undefined;
    const isEmpty = answer.trim() === "";
    if (isEmpty && (usual !== undefined || !isRequired)) return { given: usual };
    const value = isEmpty ? undefined : fieldValue(field, choices, answer.trim());
    const problem = value === undefined ? expectation(field, choices) : fieldProblem(field, value);
    if (problem === undefined) return { given: value };
    write(`  ${problem}\n`);
  }
}

function label(name: string, field: Field, usual: unknown, isRequired: boolean): string {
  const description = field["description"];
  const more = typeof description === "string" && description !== "" ? ` (${safeLine(description)})` : "";
  const otherwise = usual === undefined ? (isRequired ? "" : " [empty]") : ` [${safeLine(String(usual))}]`;
  return `${titleOf(name, field)}${more}${otherwise}`;
}

function titleOf(name: string, field: Field): string {
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
