// Asks for a permission at a terminal, line by line.

import type { PermissionReply, ShownPermission } from "@parley/client/policy";
import type { Paint } from "../terminal/paint.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { columnsOf } from "../terminal/wrap-line.ts";
import { listedAnswers } from "./answer-rows.ts";
import type { Questions } from "./elicitation-questions.ts";
import {
  editedRule,
  editedScope,
  isEditable,
  listedChoice,
  noOf,
  notAnAnswer,
  type QuestionSource,
  shownAnswers,
  usualAnswers,
} from "./permission-answers.ts";
import { moreLines, questionLines } from "./permission-lines.ts";

export async function askPermission(
  question: ShownPermission,
  source: QuestionSource,
  questions: Questions,
  paint: Paint,
): Promise<PermissionReply> {
  const { ask, write } = questions;
  const usual = usualAnswers(question);
  const answers = shownAnswers(question, source);
  const keys = answers.map((each) => each.keys).join(", ");
  const columns = columnsOf(process.stdout) ?? Number.POSITIVE_INFINITY;
  const lines = [
    ...questionLines(question, source, paint, { columns }),
    ...listedAnswers(answers, columns, paint),
  ];
  write(`${lines.join("\n")}\n`);
  let isExpanded = false;
  for (;;) {
    const answer = (await ask(`  Answer (${keys}): `))?.trim();
    if (answer === undefined) return undefined;
    const word = answer.toLowerCase();
    if (word === "" || word === "no") return noOf(question);
    const chosen = usual.find(({ letter }) => letter === word || (letter === "y" && word === "yes"));
    if (chosen !== undefined) return chosen.id;
    if (word === "?" && !question.isAlwaysAsked) {
      isExpanded = true;
      write(`${moreLines(question, source, paint, { columns }).join("\n")}\n`);
      continue;
    }
    const reply = question.isAlwaysAsked
      ? "unknown"
      : await rareAnswer(answer, question, questions, isExpanded);
    if (reply === "unknown") write(`  ${notAnAnswer(answer)}\n`);
    else if (reply !== undefined) return reply;
  }
}

/** Undefined to ask again. An answer counts only once it was shown: the rare ones after `?`. */
async function rareAnswer(
  answer: string,
  question: ShownPermission,
  questions: Questions,
  isExpanded: boolean,
): Promise<PermissionReply | "unknown"> {
  switch (answer.toLowerCase()) {
    case "e": {
      const said = (await questions.ask("  Reason for the agent: "))?.trim();
      return said === undefined || said === "" ? noOf(question) : { id: noOf(question), said };
    }
    case "r": {
      if (!isExpanded || !isEditable(question)) return "unknown";
      const rule = await askRule(question, questions);
      return rule && { id: `allow:${editedScope}`, rule };
    }
    default: {
      const choice = listedChoice(answer, question.choices);
      return choice === undefined || (choice.isExtra && !isExpanded) ? "unknown" : choice.id;
    }
  }
}

/** The rule that the user wants instead; undefined to go back to the question. */
async function askRule(
  { allowedBy: [usual = ""] = [] }: ShownPermission,
  { ask, write }: Questions,
): Promise<string | undefined> {
  for (;;) {
    const typed = (
      await ask(`  Rule to allow here for 30 days (Enter = ${escapedLine(usual)}, - = back): `)
    )?.trim();
    if (typed === undefined || typed === "-") return undefined;
    const edited = editedRule(typed, usual);
    if ("rule" in edited) return edited.rule;
    write(`  ${edited.problem}\n`);
  }
}
