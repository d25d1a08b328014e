// Asks for elicitations: a form, or an address that users open in their own browser (C41, C42).

import { domainToUnicode } from "node:url";
import type { ElicitationRequest, ElicitationResponse } from "@parley/acp";
import type { ElicitationQuestion } from "@parley/client";
import type { Paint } from "../terminal/paint.ts";
import { safeLine } from "../terminal/sanitise.ts";

export async function askElicitation(
  question: ElicitationQuestion,
  agent: string,
  questions: Questions,
  paint: Paint,
): Promise<ElicitationResponse> {
  const { write } = questions;
  write(`${paint("warning", "?")} ${safeLine(agent)} asks: ${paint("strong", safeLine(question.message))}\n`);
  if (question.mode === "form") return fillForm(question.requestedSchema, agent, questions);
  return openAddress(question, questions, paint);
}

/** The agent may never report completion, so the address can be shown again or cancelled at any time. */
async function openAddress(
  { host, url, completed }: Extract<ElicitationQuestion, { mode: "url" }>,
  { ask, write }: Questions,
  paint: Paint,
): Promise<ElicitationResponse> {
  const address = `  It asks you to open a page on ${paint("strong", safeLine(host))}:\n  ${safeLine(url)}\n`;
  write(address);
  const [name = host] = host.split(":");
  if (name.split(".").some((part) => part.startsWith("xn--"))) {
    const shown = safeLine(domainToUnicode(name));
    write(
      `  ${paint("error", "Warning")}: ${safeLine(name)} may be displayed as ${shown}, and look like another address\n`,
    );
  }
  write("  Open it in your browser if you agree.\n");
  for (;;) {
    const answer = await ask("  y = done, r = show it again, n = decline, c = cancel: ", completed);
    if (completed.aborted) {
      write("\n  The agent reports that it is done.\n");
      return { action: "accept" };
    }
    const [letter = ""] = answer?.trim().toLowerCase() ?? "c";
    if (letter === "y") {
      write("  If the agent does not continue, press Ctrl-C to cancel.\n");
      return { action: "accept" };
    }
    if (letter === "n") return { action: "decline" };
    if (letter === "c") return { action: "cancel" };
    write(address);
  }
}

type Form = Extract<ElicitationRequest, { mode: "form" }>["requestedSchema"];

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
): Promise<ElicitationResponse> {
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

export type Field = Extract<ElicitationRequest, { mode: "form" }>["requestedSchema"]["properties"][string];

export interface FormChoice {
  readonly value: string;
  readonly name: string;
}

const kinds = ["string", "number", "integer", "boolean", "array"];

/** Lists are supported only with a fixed choice of items. */
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
