// What an agent asks of a person beside permissions: a form, or a visit to an address. Nothing is fetched or opened here:
// the person does that, in a browser of their own (C41, C42).

import { domainToUnicode } from "node:url";
import type { ElicitationAnswer } from "@parley/acp";
import type { ElicitationQuestion } from "@parley/client";
import { fillForm, type Questions } from "./form-questions.ts";
import type { Paint } from "./paint.ts";
import { safeLine } from "./safe-text.ts";

export async function askElicitation(
  question: ElicitationQuestion,
  agent: string,
  questions: Questions,
  paint: Paint,
): Promise<ElicitationAnswer> {
  const { ask, write } = questions;
  write(`${paint("yellow", "?")} ${safeLine(agent)} asks: ${paint("bold", safeLine(question.message))}\n`);
  if (question.mode === "form") return fillForm(question.requestedSchema, agent, questions);
  const { host, url } = question;
  write(`  it wants you to visit ${paint("bold", safeLine(host))}:\n  ${safeLine(url)}\n`);
  const [name = host] = host.split(":");
  if (name.split(".").some((part) => part.startsWith("xn--"))) {
    const shown = safeLine(domainToUnicode(name));
    write(
      `  ${paint("red", "careful")}: ${safeLine(name)} may be shown as ${shown}, and look like another\n`,
    );
  }
  const answer = await ask("  open it yourself if you agree; y when it is done, n to decline: ");
  if (answer === undefined) return { action: "cancel" };
  return { action: /^y(?:es)?$/i.test(answer.trim()) ? "accept" : "decline" };
}
