// The person at the terminal: questions go to stderr, answers come from stdin, one question at a time.

import { createInterface } from "node:readline/promises";
import { gitPatch } from "@parley/acp";
import type { Asker, ElicitationQuestion, PermissionAsker, PermissionQuestion } from "@parley/client";
import { fillForm } from "./form-questions.ts";
import type { Paint } from "./paint.ts";
import { safeLine, safeText } from "./safe-text.ts";

const shownDiffLines = 60;

/** Asks for one line; nothing when the question is withdrawn or the input ends. */
export type AskLine = (question: string, signal: AbortSignal) => Promise<string | undefined>;

export function terminalAsker(paint: Paint, pause: () => void): Asker & PermissionAsker {
  let queue: Promise<unknown> = Promise.resolve();
  /** The next question waits until this one is answered. */
  const inTurn = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const answer = queue.then(() => {
      pause();
      return ask();
    });
    queue = answer.catch(() => undefined);
    return answer;
  };
  return {
    permission: (question) => inTurn(() => askPermission(question, paint)),
    elicit: (question, { signal }) => inTurn(() => askElicitation(question, signal, paint)),
  };
}

async function askPermission(question: PermissionQuestion, paint: Paint): Promise<string | undefined> {
  const { summary, reason, claimed, diff, env = {}, choices, signal } = question;
  const lines = [
    `${paint("yellow", "?")} ${paint("bold", safeLine(summary))}`,
    ...(claimed === undefined || claimed.title === summary
      ? []
      : [`  the agent calls it: ${safeLine(claimed.title)}`]),
    ...(claimed?.description === undefined ? [] : [`  ${safeLine(claimed.description)}`]),
    ...Object.entries(env).map(([name, value]) => `  with ${safeLine(`${name}=${value}`)}`),
    ...(diff === undefined ? [] : diffLines(diff, paint)),
    paint("dim", `  asked because: ${safeLine(reason)}`),
    ...choices.map(({ name }, at) => `  ${at + 1}  ${safeLine(name)}`),
  ];
  write(`${lines.join("\n")}\n`);
  for (;;) {
    const answer = await askLine(`  which? (1-${choices.length}, Enter for no) `, signal);
    if (answer === undefined) return undefined;
    if (answer.trim() === "")
      return choices.find(({ effect, scope }) => effect === "deny" && scope === "once")?.id;
    const chosen = choices[Number(answer.trim()) - 1];
    if (chosen !== undefined) return chosen.id;
    write(`  that is none of 1 to ${choices.length}\n`);
  }
}

function diffLines(
  { path, oldText, newText }: NonNullable<PermissionQuestion["diff"]>,
  paint: Paint,
): string[] {
  const lines = safeText(gitPatch(path, oldText, newText))
    .trimEnd()
    .split("\n");
  const body = lines.filter((line) => !/^(?:diff --git|--- |\+\+\+ |new file mode)/.test(line));
  const shown = body.slice(0, shownDiffLines).map((line) => {
    const colour = line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : "dim";
    return `    ${paint(colour, line)}`;
  });
  const rest = body.length - shown.length;
  return [...shown, ...(rest > 0 ? [`    … ${rest} more lines`] : [])];
}

async function askElicitation(question: ElicitationQuestion, signal: AbortSignal, paint: Paint) {
  write(`${paint("yellow", "?")} ${paint("bold", safeLine(question.message))}\n`);
  if (question.mode === "form")
    return fillForm(question.requestedSchema, (text) => askLine(text, signal), write);
  write(`  it wants you to visit ${paint("bold", safeLine(question.host))}:\n  ${safeLine(question.url)}\n`);
  const answer = await askLine("  have you been there? (y/n) ", signal);
  if (answer === undefined) return { action: "cancel" as const };
  return { action: /^y/i.test(answer.trim()) ? ("accept" as const) : ("decline" as const) };
}

const askLine: AskLine = async (question, signal) => {
  if (signal.aborted) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // the terminal is in raw mode while it asks, so that Ctrl-C is a key and no signal
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(question, { signal }).catch(() => undefined), closed]);
  } finally {
    lines.close();
  }
};

function write(text: string): void {
  process.stderr.write(text);
}
