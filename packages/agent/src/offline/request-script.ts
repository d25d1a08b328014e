// Turns a request into a script: one command at once, several as a plan; only the plan where changes are not allowed.

import { planRequest, testRequest } from "../model/agent-requests.ts";
import { commands } from "./commands.ts";
import { type CommandStep, type OfflineStep, type Piece, read } from "./language.ts";
import type { OtherModels } from "./offline-model.ts";
import { call, type Script } from "./script.ts";

export interface ScriptOptions {
  /** Whether the model may call this tool. */
  has(tool: string): boolean;
  /** The request began in a mode that allows no changes. */
  readonly beganPlanning: boolean;
}

/** Returns the final answer, or what it does not understand. */
export function requestScript(
  pieces: readonly Piece[],
  options: ScriptOptions,
): Script<string> | { readonly unknown: string } {
  const [first = "", ...others] = pieces;
  if (typeof first === "string" && first.startsWith(testRequest)) return { unknown: first };
  const isPlanOnly = typeof first === "string" && first.startsWith(planRequest);
  const reading = read(isPlanOnly ? [first.slice(planRequest.length), ...others] : pieces);
  if (!("steps" in reading)) return reading;
  const asked = reading.steps.filter((step) => step.type === "command");
  if (asked.length < reading.steps.length) return play(reading.steps, options);
  return isPlanOnly ? showPlan(asked, options) : carryOut(asked, options);
}

const noTools = "In mode chat I have no tools. Switch to ask, code or architect.";

/** Scripted lines, and commands between them, just as they stand there. */
function* play(steps: readonly OfflineStep[], { has }: ScriptOptions): Script<string> {
  // stands between two texts of one message; a call ends the message
  let gap = "";
  for (const step of steps) {
    if (step.type === "command") {
      if (!has("read")) return `${gap}${noTools}`;
      yield { type: "text", text: (yield* step.perform()).words };
      gap = "\n\n";
    } else if (step.action.type === "text") {
      yield { type: "text", text: `${gap}${step.action.text}` };
      gap = "\n\n";
    } else {
      yield step.action;
      if (step.action.type === "call") gap = "";
    }
  }
  const hasSpoken = steps.some((step) => step.type === "command" || step.action.type === "text");
  return hasSpoken ? "" : "Done.";
}

function* carryOut(steps: readonly CommandStep[], options: ScriptOptions): Script<string> {
  if (!options.has("read")) return noTools;
  if (options.beganPlanning && !steps.every(({ isReadOnly }) => isReadOnly)) {
    const plan = yield* showPlan(steps, options);
    const left = yield* call("switch_mode", { plan });
    if (left.isError || !options.has("write"))
      return `${plan}\n\nNothing was changed. Switch to ask or code to carry it out.`;
  }
  const [only, ...others] = steps;
  if (only !== undefined && others.length === 0) return (yield* only.perform()).words;
  const report: string[] = [];
  yield { type: "thinking", text: `These are ${steps.length} steps, so I will make a plan.` };
  for (const [i, { words, perform }] of steps.entries()) {
    yield* showProgress(steps, i, options);
    const done = yield* perform();
    report.push(`${i + 1}. ${words}: ${done.words}`);
    if (!done.isError) continue;
    const left = steps.length - i - 1;
    if (left > 0) report.push(`I stopped there: ${left === 1 ? "one step is" : `${left} steps are`} left.`);
    return report.join("\n\n");
  }
  yield* showProgress(steps, steps.length, options);
  return report.join("\n\n");
}

function* showPlan(steps: readonly CommandStep[], options: ScriptOptions): Script<string> {
  yield* showProgress(steps, -1, options);
  return ["The plan:", ...steps.map(({ words }, i) => `${i + 1}. ${words}`)].join("\n");
}

function* showProgress(steps: readonly CommandStep[], now: number, { has }: ScriptOptions): Script<void> {
  const status = (i: number) => (i < now ? "completed" : i === now ? "in_progress" : "pending");
  const entries = steps.map(({ words }, i) => ({ content: words, status: status(i) }));
  if (has("todo")) yield* call("todo", { entries });
}

/** How the commands are written, for people. */
export const usages = commands.map(({ usage }) => `\`${usage}\``).join(", ");

const shownWords = 80;

/** Two lines: what the model understands, and how to get another one. */
export async function advice(unknown: string, others: OtherModels): Promise<string> {
  const [other] = await others();
  // a client may have a /help of its own
  const isHelp = /^(?:help|\?)$/i.test(unknown);
  const quote = unknown.length > shownWords ? `${unknown.slice(0, shownWords)}…` : unknown;
  const offer =
    other === undefined
      ? "set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`, run `parley agent login`, or start a local server."
      : `${other.name} is ready, and \`/model ${other.id}\` uses it.`;
  return [
    `${unknown === "" || isHelp ? "" : `I did not understand “${quote}”, so I did nothing. `}I understand ${usages}, and several of these joined ` +
      `with \`then\` or one per line. Quote a text that contains spaces.${unknown.startsWith(testRequest) ? " To run tests, write `run` and their command." : ""}`,
    `For anything else, I need a model: ${offer}`,
  ].join("\n\n");
}
