// Asks the user at the terminal, one question at a time.

import type { ElicitationResponse, RequestContext } from "@parley/acp";
import { gitPatch } from "@parley/acp/internal";
import type { Asker, ElicitationQuestion, Problem } from "@parley/client";
import type { PermissionAsker } from "@parley/client/internal";
import type { PermissionChoice, PermissionQuestion } from "@parley/client/policy";
import { loginAsker } from "../agents/login-asker.ts";
import { patchLines, titleLine } from "../printers/tool-lines.ts";
import { askLine } from "../terminal/ask-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { askElicitation } from "./elicitation-questions.ts";

/** Answers every question of a run. */
export interface TerminalAsker extends Asker, PermissionAsker {
  elicit(question: ElicitationQuestion, context: RequestContext): Promise<ElicitationResponse>;
}

const shownDiffLines = 60;
const shownOptions = 20;

/** Calls `pause` before each question, so that nothing else draws on the terminal. */
export function terminalAsker(agent: string, paint: Paint, pause: () => void): TerminalAsker {
  let queue: Promise<unknown> = Promise.resolve();
  /** Questions wait for each other. */
  const inTurn =
    <Args extends unknown[], Answer>(ask: (...args: Args) => Promise<Answer>) =>
    (...args: Args): Promise<Answer> => {
      const answer = queue.then(() => {
        pause();
        return ask(...args);
      });
      queue = answer.catch(() => undefined);
      return answer;
    };
  const { chooseLogin, credential, terminalLogin } = loginAsker();
  return {
    permission: inTurn((question: PermissionQuestion) => askPermission(question, paint)),
    elicit: inTurn((question, { signal }) =>
      askElicitation(
        question,
        agent,
        { ask: (text, over) => askLine(text, either(signal, over)), write },
        paint,
      ),
    ),
    chooseLogin: inTurn(chooseLogin),
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
        `the agent no longer has the session: ${safeLine(problem.message)}`,
        "Start a new one? It does not know the previous conversation.",
        signal,
      ),
    ),
  };
}

function problemText({ kind, message }: Problem): string {
  return `${kind === "crash" ? "the agent crashed" : "the agent cannot continue"}: ${safeLine(message)}`;
}

async function confirmed(what: string, question: string, signal: AbortSignal): Promise<boolean> {
  write(`${what}\n`);
  const answer = await askLine(`  ${question} [y/N] `, signal);
  return /^\s*y(?:es)?\s*$/i.test(answer ?? "");
}

async function askPermission(question: PermissionQuestion, paint: Paint): Promise<string | undefined> {
  const { summary, reason, claimed, diff, env = {}, choices, signal } = question;
  const patch = diff === undefined ? question.patch : gitPatch(diff.path, diff.oldText, diff.newText);
  const lines = [
    `${paint("yellow", "?")} ${paint("bold", safeLine(summary))}`,
    ...(claimed === undefined || claimed.title === summary
      ? []
      : [`  the agent calls it: ${safeLine(claimed.title)}`]),
    ...(claimed?.description === undefined ? [] : [`  ${safeLine(claimed.description)}`]),
    ...shownVariables(env),
    ...(patch === undefined ? [] : shownPatch(patch, paint)),
    paint("dim", `  asked because: ${titleLine(reason)}`),
    ...choiceLines(choices, paint),
  ];
  write(`${lines.join("\n")}\n`);
  for (;;) {
    const answer = await askLine(
      `  which? (1-${choices.length}, y for yes, Enter for no; both once) `,
      signal,
    );
    if (answer === undefined) return undefined;
    // whatever the agent calls its options, a no is a no
    if (/^(?:no?)?$/i.test(answer.trim())) return once("deny", choices);
    if (/^y(?:es)?$/i.test(answer.trim()) && once("allow", choices) !== undefined)
      return once("allow", choices);
    const chosen = choiceFor(answer.trim(), choices);
    if (chosen !== undefined) return chosen.id;
    write(`  that is none of 1 to ${choices.length}, and the name of no single one\n`);
  }
}

function once(effect: PermissionChoice["effect"], choices: readonly PermissionChoice[]): string | undefined {
  return choices.find((choice) => choice.effect === effect && choice.scope === "once")?.id;
}

/** What is asked about must stay in sight; which of them matter is said with the reason. */
function shownVariables(env: NonNullable<PermissionQuestion["env"]>): string[] {
  const all = Object.entries(env);
  const lines = all.slice(0, shownOptions).map(([name, value]) => `  with ${titleLine(`${name}=${value}`)}`);
  const rest = all.length - lines.length;
  return rest > 0 ? [...lines, `  … and ${rest} more variables`] : lines;
}

/** By its number, or by the name or the id of one alone. */
function choiceFor(answer: string, choices: readonly PermissionChoice[]): PermissionChoice | undefined {
  const numbered = choices[Number(answer) - 1];
  if (numbered !== undefined) return numbered;
  const [named, another] = choices.filter(({ name, optionId }) => name === answer || optionId === answer);
  return another === undefined ? named : undefined;
}

/** Those of ours are always shown; of an agent that offers very many, the first. */
function choiceLines(choices: readonly PermissionChoice[], paint: Paint): string[] {
  const lines = choices.map((choice, at) => {
    const number = String(at + 1).padStart(String(choices.length).length);
    return `  ${number}  ${choiceLine(choice, paint)}`;
  });
  const theirs = choices.filter(({ id }) => id.startsWith("option:")).length;
  const hidden = theirs - shownOptions;
  if (hidden <= 0) return lines;
  const more = `  … and ${hidden} more of the agent's, to be chosen by their number, name or id`;
  return [...lines.slice(0, shownOptions), more, ...lines.slice(theirs)];
}

function shownPatch(patch: string, paint: Paint): string[] {
  const lines = patchLines(patch, paint).map((line) => `    ${line}`);
  const rest = lines.length - shownDiffLines;
  return [...lines.slice(0, shownDiffLines), ...(rest > 0 ? [`    … ${rest} more lines`] : [])];
}

/** An agent may call a yes "No", or two options the same: what its own options mean is said beside them. */
function choiceLine({ id, name, effect, scope }: PermissionChoice, paint: Paint): string {
  if (!id.startsWith("option:")) return safeLine(name);
  const meaning = `${effect === "allow" ? "allows" : "refuses"} it${scope === "once" ? "" : " for this session"}`;
  return `${safeLine(name)} ${paint("dim", `(${meaning})`)}`;
}

function either(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other]);
}

function write(text: string): void {
  process.stderr.write(text);
}
