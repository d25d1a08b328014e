// Asks for elicitations: a form, or an address that users open in their own browser (C41, C42).

import { domainToUnicode } from "node:url";
import type { ElicitationResponse } from "@parley/acp";
import type { ShownElicitation } from "@parley/client/conversation";
import type { Paint } from "../terminal/paint.ts";
import { safeLine } from "../terminal/sanitise.ts";
import {
  checkedAnswer,
  declinedForm,
  type Field,
  type Form,
  fieldLabel,
  fieldTitle,
  formChoices,
  formFields,
  shownValue,
} from "./form-fields.ts";

export async function askElicitation(
  question: ShownElicitation,
  agent: string,
  questions: Questions,
  paint: Paint,
): Promise<ElicitationResponse> {
  const { write } = questions;
  write(`${elicitationHeading(question, agent, paint)}\n`);
  if (question.mode === "form") return fillForm(question.requestedSchema, agent, questions);
  return openAddress(question, questions, paint);
}

export function elicitationHeading({ message }: ShownElicitation, agent: string, paint: Paint): string {
  return `${paint("warning", "?")} ${safeLine(agent)} asks: ${paint("strong", safeLine(message))}`;
}

/** The host, and the address in full. */
export function addressLines(
  { host, url }: { readonly host: string; readonly url: string },
  paint: Paint,
): string[] {
  return [`  The agent asks you to open a page on ${paint("strong", safeLine(host))}:`, `  ${safeLine(url)}`];
}

/** Of a host that may look like another one. */
export function hostWarning(host: string, paint: Paint): string[] {
  const [name = host] = host.split(":");
  if (!name.split(".").some((part) => part.startsWith("xn--"))) return [];
  const shown = safeLine(domainToUnicode(name));
  return [
    `  ${paint("error", "Warning")}: ${safeLine(name)} may be displayed as ${shown}, and look like another address`,
  ];
}

/** The agent may never report completion, so the address can be shown again or cancelled at any time. */
async function openAddress(
  { host, url }: Extract<ShownElicitation, { mode: "url" }>,
  { ask, write }: Questions,
  paint: Paint,
): Promise<ElicitationResponse> {
  const address = `${addressLines({ host, url }, paint).join("\n")}\n`;
  for (const line of [...addressLines({ host, url }, paint), ...hostWarning(host, paint)]) write(`${line}\n`);
  write("  Open it in your browser if you agree.\n");
  for (;;) {
    const answer = await ask("  y = done, r = show it again, n = decline, c = cancel: ");
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

/** The terminal. */
export interface Questions {
  /** Reads one line; undefined if the input ends or the question is withdrawn. */
  ask(question: string): Promise<string | undefined>;
  write(text: string): void;
}

export async function fillForm(
  form: Form,
  agent: string,
  { ask, write }: Questions,
): Promise<ElicitationResponse> {
  const fields = formFields(form);
  if (fields === undefined) {
    write(`  ${declinedForm}\n`);
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
      write(`  ${at + 1}  ${fieldTitle(name, field)}: ${shownValue(field, content[name])}\n`);
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
  for (const [at, choice] of formChoices(field).entries()) write(`    ${at + 1}  ${safeLine(choice.name)}\n`);
  for (;;) {
    const answer = await ask(`  ${fieldLabel(name, field, isRequired)}: `);
    if (answer === undefined) return undefined;
    const checked = checkedAnswer(field, isRequired, answer);
    if ("given" in checked) return checked;
    write(`  ${checked.problem}\n`);
  }
}
