// Turns a user request into a script: one task at once, several as a plan; only the plan when changes are not allowed.

import { planRequest } from "../model/agent-requests.ts";
import { type Intent, type Task, tasksOf } from "./intents.ts";
import { call, type Script } from "./script.ts";
import { taskScript } from "./task-scripts.ts";

export interface ScriptOptions {
  /** Whether the model may call this tool. */
  has(tool: string): boolean;
  /** The request began in a mode that allows no changes. */
  readonly beganPlanning: boolean;
}

const changes: ReadonlySet<Intent["type"]> = new Set([
  "create",
  "append",
  "replace",
  "delete",
  "move",
  "run",
  "test",
]);

export function* requestScript(request: string, options: ScriptOptions): Script {
  const isPlanOnly = request.startsWith(planRequest);
  const words = isPlanOnly ? request.slice(planRequest.length).trim() : request;
  const tasks = tasksOf(words);
  if (isPlanOnly) return yield* planOnly(tasks, options);
  const known = tasks.filter(({ intent }) => intent.type !== "unknown" && intent.type !== "greet");
  if (known.length === 0)
    return tasks.some(({ intent }) => intent.type === "greet") ? abilities : lost(words);
  if (!options.has("read") && !options.beganPlanning) {
    return "In mode chat I have no tools, and without them I know nothing: switch to ask, code or architect.";
  }
  const unknown = tasks.filter(({ intent }) => intent.type === "unknown");
  const note =
    unknown.length === 0 ? "" : `\n\nI did not understand, and did nothing about: ${quotedWords(unknown)}.`;
  const mayChange = !options.beganPlanning;
  if (!mayChange && known.some(({ intent }) => changes.has(intent.type))) {
    const plan = yield* showPlan(known, options);
    const left = yield* call(
      "switch_mode",
      { plan },
      "The plan is ready; to carry it out I must leave this mode.",
    );
    if (left.isError || !options.has("write"))
      return `${plan}\n\nNothing was changed. Switch to ask or code to carry it out.${note}`;
  }
  return `${yield* carryOut(known, options)}${note}`;
}

const shownTasks = 5;
const shownWords = 80;

/** Shortens long requests. */
function quotedWords(tasks: readonly Task[]): string {
  const shown = tasks.slice(0, shownTasks).map(({ words }) => {
    return `“${words.length > shownWords ? `${words.slice(0, shownWords)}…` : words}”`;
  });
  const more = tasks.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

/** A plan may have steps that the offline model cannot carry out. */
function* planOnly(tasks: readonly Task[], options: ScriptOptions): Script {
  const steps = tasks.filter(({ intent }) => intent.type !== "greet");
  if (steps.length === 0)
    return "What should I plan? Say it with the command: `/plan rename a.txt to b.txt, then run the tests`.";
  const unknown = steps.filter(({ intent }) => intent.type === "unknown");
  const note =
    unknown.length === 0
      ? ""
      : `\n\nBy fixed rules I cannot carry out ${quotedWords(unknown)}: that takes another model.`;
  return `${yield* showPlan(steps, options)}${note}`;
}

function* showPlan(tasks: readonly Task[], { has }: ScriptOptions): Script {
  if (has("todo"))
    yield* call("todo", { entries: planItems(tasks, -1) }, "I will make a plan and change nothing.");
  return ["The plan:", ...tasks.map(({ words }, i) => `${i + 1}. ${words}`)].join("\n");
}

function* carryOut(tasks: readonly Task[], { has }: ScriptOptions): Script {
  const [only] = tasks;
  if (tasks.length === 1 && only !== undefined) return (yield* taskScript(only.intent)).words;
  const report: string[] = [];
  for (const [i, { intent, words }] of tasks.entries()) {
    const think = i === 0 ? `That is ${tasks.length} steps, so I will make a plan.` : undefined;
    if (has("todo")) yield* call("todo", { entries: planItems(tasks, i) }, think);
    const done = yield* taskScript(intent);
    report.push(`${i + 1}. ${words}: ${done.words}`);
    if (!done.isError) continue;
    const left = tasks.length - i - 1;
    if (left > 0) report.push(`I stopped there: ${left === 1 ? "one step is" : `${left} steps are`} left.`);
    return report.join("\n\n");
  }
  if (has("todo")) yield* call("todo", { entries: planItems(tasks, tasks.length) });
  return report.join("\n\n");
}

function planItems(tasks: readonly Task[], now: number): object[] {
  return tasks.map(({ words }, i) => ({
    content: words,
    status: i < now ? "completed" : i === now ? "in_progress" : "pending",
  }));
}

const abilities = [
  "I follow fixed rules, without AI. These are examples of what I understand:",
  "- `look around`",
  "- `read src/main.ts lines 10-40`, `explain src/main.ts`",
  "- `search for TODO in src`, `find files named *.test.ts`",
  '- `create notes.txt with "hello"`, `append "more" to notes.txt`',
  '- `replace "hello" with "goodbye" in notes.txt`',
  "- `rename notes.txt to old.txt`, `delete old.txt`",
  "- `run ls -l`, `run the tests`",
  "- several of these as a list, or joined with “then”: I make a plan and carry it out",
].join("\n");

function lost(request: string): string {
  const words = request.trim().split("\n")[0]?.slice(0, 80) ?? "";
  return `I did not understand “${words}”. ${abilities}`;
}
