// Asks the questions of a session at the terminal of a run.

import { openConversation, type SessionLink } from "@parley/client/conversation";
import type { RunPrinter } from "../printers/run-printer.ts";
import { askPlainly, QuestionTurns } from "../questions/ask-plainly.ts";
import { askLine } from "../terminal/ask-line.ts";
import { painter } from "../terminal/paint.ts";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import { columnsOf, wrapIndent, wrapLines } from "../terminal/wrap-line.ts";

const terminal = {
  lines: {
    ask: (text: string, over?: AbortSignal) => askLine(wrapped(text), over),
    suspend: <Result>(work: () => Promise<Result>) => work(),
  },
  paint: painter(true),
  write: (text: string) => void process.stderr.write(wrapped(text)),
};

/** Pauses the printer during each question, so that nothing else draws on the terminal. Returns what ends it. */
export function askAtTerminal(
  link: SessionLink,
  printer: Pick<RunPrinter, "pause" | "resume" | "notice">,
): () => void {
  const session = openConversation(link, { safe: { line: safeLine, text: safeText } });
  const questions = new QuestionTurns({
    questions: () => session.questions,
    ask: (question, over) => {
      printer.pause();
      return askPlainly(session, question, terminal, over).finally(() => printer.resume());
    },
    failed: (error) => printer.notice(safeLine(String(error))),
  });
  session.onEvent(({ kind }) => {
    if (kind === "questions") questions.next();
  });
  return () => {
    questions.close();
    session.leave();
  };
}

function wrapped(text: string): string {
  return wrapLines(text, columnsOf(process.stderr), wrapIndent);
}
