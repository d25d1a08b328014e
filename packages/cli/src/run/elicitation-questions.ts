// What an agent asks of a person beside permissions: a form, or a visit to an address. Nothing is fetched or opened here:
// the person does that, in a browser of their own (C41, C42).

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
  return visit(question, questions, paint);
}

/** It may never be told that the visit is over: it can be shown again, and given up, for as long as it takes (C48). */
async function visit(
  { host, url, completed }: Extract<ElicitationQuestion, { mode: "url" }>,
  { ask, write }: Questions,
  paint: Paint,
): Promise<ElicitationAnswer> {
  const address = `  it wants you to visit ${paint("bold", safeLine(host))}:\n  ${safeLine(url)}\n`;
  write(address);
  const [name = host] = host.split(":");
  if (name.split(".").some((part) => part.startsWith("xn--"))) {
    const shown = safeLine(domainToUnicode(name));
    write(
      `  ${paint("red", "careful")}: ${safeLine(name)} may be shown as ${shown}, and look like another\n`,
    );
  }
  write("  open it yourself if you agree\n");
  for (;;) {
    const answer = await ask(
      "  y when it is done, r to see it again, n to decline, c to cancel: ",
      completed,
    );
    if (completed.aborted) {
      write("\n  the agent says that it is done\n");
      return { action: "accept" };
    }
    const [letter = ""] = answer?.trim().toLowerCase() ?? "c";
    if (letter === "y") {
      write("  told the agent; if it does not go on, Ctrl-C cancels\n");
      return { action: "accept" };
    }
    if (letter === "n") return { action: "decline" };
    if (letter === "c") return { action: "cancel" };
    write(address);
  }
}
