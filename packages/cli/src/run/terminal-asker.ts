// Asks the user at the terminal, one question at a time.

import type { AgentProblem } from "@parley/client";
import type { HostAsker } from "@parley/client/host";
import type { PermissionQuestion } from "@parley/client/policy";
import { loginAsker } from "../agents/login-asker.ts";
import type { RunPrinter } from "../printers/run-printer.ts";
import { askElicitation } from "../questions/elicitation-questions.ts";
import type { QuestionSource } from "../questions/permission-answers.ts";
import { askPermission } from "../questions/permission-question.ts";
import { askLine } from "../terminal/ask-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { columnsOf, wrapIndent, wrapLines } from "../terminal/wrap-line.ts";

/** Pauses the printer during each question, so that nothing else draws on the terminal. */
export function terminalAsker(
  source: QuestionSource,
  paint: Paint,
  printer: Pick<RunPrinter, "pause" | "resume">,
): HostAsker {
  let queue: Promise<unknown> = Promise.resolve();
  /** Questions wait for each other. */
  const inTurn =
    <Args extends unknown[], Answer>(ask: (...args: Args) => Promise<Answer>) =>
    (...args: Args): Promise<Answer> => {
      const answer = queue.then(() => {
        printer.pause();
        return ask(...args).finally(() => printer.resume());
      });
      queue = answer.catch(() => undefined);
      return answer;
    };
  const { chooseLogin, credential, terminalLogin } = loginAsker();
  return {
    permission: inTurn((question: PermissionQuestion) =>
      askPermission(
        question,
        source,
        { ask: (text) => askLine(wrapped(text), question.signal), write },
        paint,
      ),
    ),
    elicit: inTurn((question, { signal }) =>
      askElicitation(
        question,
        source.agent,
        { ask: (text, over) => askLine(wrapped(text), either(signal, over)), write },
        paint,
      ),
    ),
    chooseLogin: inTurn((methods, name, { why }) => {
      write(`${wrapped(safeLine(why))}\n`);
      return chooseLogin(methods, name);
    }),
    credential: inTurn(credential),
    terminalLogin: inTurn(terminalLogin),
    retry: inTurn((problem, { signal }) =>
      confirmed(
        problemText(problem),
        "Send the prompt again? The agent may repeat what it already did.",
        signal,
      ),
    ),
    newSession: inTurn((problem, { signal }) =>
      confirmed(
        `${problem.crash === undefined ? "" : `the agent crashed: ${safeLine(problem.crash.message)}\n`}the agent no longer has the session: ${safeLine(problem.message)}`,
        "Start a new one? It does not know the previous conversation.",
        signal,
      ),
    ),
  };
}

function problemText({ kind, message }: AgentProblem): string {
  return `${kind === "crash" ? "the agent crashed" : "the agent cannot continue"}: ${safeLine(message)}`;
}

async function confirmed(what: string, question: string, signal: AbortSignal): Promise<boolean> {
  write(`${what}\n`);
  const answer = await askLine(`  ${question} [y/N] `, signal);
  return /^\s*y(?:es)?\s*$/i.test(answer ?? "");
}

function either(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other]);
}

function write(text: string): void {
  process.stderr.write(wrapped(text));
}

function wrapped(text: string): string {
  return wrapLines(text, columnsOf(process.stderr), wrapIndent);
}
