// Asks the open questions of a session one after the other, as `parley run` does.

import type { Conversation, OpenQuestion } from "@parley/client/conversation";
import { loginAsker } from "../../agents/login-asker.ts";
import { askElicitation } from "../../questions/elicitation-questions.ts";
import { askPermission } from "../../questions/permission-question.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { LineInput } from "./typed-lines.ts";

export interface PlainTerminal {
  readonly lines: LineInput;
  readonly paint: Paint;
  write(text: string): void;
}

/** Resolves when it has an answer, or needs none any more (`over`). */
export async function askPlainly(
  session: Conversation,
  question: OpenQuestion,
  { lines, paint, write }: PlainTerminal,
  over: AbortSignal,
): Promise<void> {
  const either = (other: AbortSignal | undefined) =>
    other === undefined ? over : AbortSignal.any([over, other]);
  const questions = {
    ask: (text: string, other?: AbortSignal) => lines.ask(text, either(other)),
    write,
  };
  const agent = question.from ?? session.agent.asker;
  if (question.from !== undefined)
    write(`${paint("dim", `${question.from}, started by ${session.agent.name}, asks:`)}\n`);
  switch (question.kind) {
    case "permission": {
      const source = { agent, cwd: session.cwd };
      return question.answer(await askPermission(question.question, source, questions, paint));
    }
    case "elicitation":
      return question.answer(await askElicitation(question.question, agent, questions, paint));
    case "login":
      return question.answer(
        await lines.suspend(() => loginAsker().chooseLogin(question.methods, session.agent.name)),
      );
    case "credential":
      return question.answer(
        await lines.suspend(() => loginAsker().credential(question.variable, session.agent.name)),
      );
    case "terminal":
      return question.answer(
        await lines.suspend(() => loginAsker().terminalLogin(question.command, session.agent.name)),
      );
    case "confirm": {
      write(`${question.lines.join("\n")}\n`);
      const answer = await questions.ask(`  ${question.ask} [y/N] `);
      return question.answer(/^\s*y(?:es)?\s*$/i.test(answer ?? ""));
    }
    default:
      return question satisfies never;
  }
}

/** What is asked, in a line. */
export function subjectOf(question: OpenQuestion): string {
  switch (question.kind) {
    case "permission":
      return safeLine(question.question.summary);
    case "elicitation":
      return safeLine(question.question.message);
    case "confirm":
      return question.ask;
    default:
      return "a login";
  }
}

/** The answer where nobody can be asked. */
export function declined(question: OpenQuestion): void {
  switch (question.kind) {
    case "permission":
    case "login":
    case "credential":
      return question.answer(undefined);
    case "elicitation":
      return question.answer({ action: "cancel" });
    case "terminal":
      return question.answer(1);
    case "confirm":
      return question.answer(false);
    default:
      return question satisfies never;
  }
}
