// Asks for elicitations: a form, or an address that users open in their own browser (C41, C42).

import { domainToUnicode } from "node:url";
import type { ElicitationAnswer } from "@parley/acp";
import type { ElicitationQuestion } from "@parley/client";
import type { Paint } from "../terminal/paint.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { fillForm, type Questions } from "./form-questions.ts";

export async function askElicitation(
  question: ElicitationQuestion,
  agent: string,
  questions: Questions,
  paint: Paint,
): Promise<ElicitationAnswer> {
  const { write } = questions;
  write(`${paint("yellow", "?")} ${safeLine(agent)} asks: ${paint("bold", safeLine(question.message))}\n`);
  if (question.mode === "form") return fillForm(question.requestedSchema, agent, questions);
  return openAddress(question, questions, paint);
}

/** The agent may never report completion, so the address can be shown again or cancelled at any time (C48). */
async function openAddress(
  { host, url, completed }: Extract<ElicitationQuestion, { mode: "url" }>,
  { ask, write }: Questions,
  paint: Paint,
): Promise<ElicitationAnswer> {
  const address = `  It asks you to open a page on ${paint("bold", safeLine(host))}:\n  ${safeLine(url)}\n`;
  write(address);
  const [name = host] = host.split(":");
  if (name.split(".").some((part) => part.startsWith("xn--"))) {
    const shown = safeLine(domainToUnicode(name));
    write(
      `  ${paint("red", "Warning")}: ${safeLine(name)} may be displayed as ${shown}, and look like another address\n`,
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
