// Runs the steps of a scripted agent, with the verbs for tool calls, questions, files, terminals and further prompts.

import { type AgentSession, RequestError, type ToolCallHandle, type Turn } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { PermissionOption, PromptResult, StopReason, Usage } from "@parley/acp/model";
import type { AgentStep, TerminalOp } from "./agent-scenario.ts";
import type { AgentVerb, Verbs } from "./agent-steps.ts";
import { type Clock, type Gates, untilAborted } from "./gates.ts";
import { filled, type ScriptedWire, type Values } from "./scripted-wire.ts";

class FailedByScript extends Error {}

/** The verbs of `agent-steps.ts` that act on the client or a tool call. */
export const clientVerbs: Verbs<
  Extract<
    AgentVerb,
    | "tool"
    | "background"
    | "start"
    | "add"
    | "diff"
    | "patch"
    | "failTool"
    | "display"
    | "ask"
    | "elicit"
    | "completeElicitation"
    | "read"
    | "write"
    | "run"
    | "take"
  >
> = {
  async tool({ tool: start, steps = [], status = "completed", rawOutput }, context) {
    const { turn } = context;
    if (turn === undefined) throw needsTurn("a tool call");
    const left = Promise.withResolvers<Ended | undefined>();
    const call = turn.tool(start, async (tool) => {
      const ended = await insideTool(tool, steps, context);
      if (status === false) {
        left.resolve(ended);
        // left open until the turn ends
        await untilAborted(new Promise(() => undefined), context.run.ended);
        return ended;
      }
      await finish(tool, status, rawOutput);
      return ended;
    });
    const finished = call.catch((error: unknown) => {
      if (error instanceof FailedByScript) return undefined;
      if (context.signal.aborted) return context.handlesCancel ? undefined : new Ended("cancelled");
      throw error;
    });
    return Promise.race([finished, left.promise]);
  },
  background({ background: start, steps = [], status = "completed", rawOutput, after = [] }, context) {
    const { session, run } = context;
    const beside = { ...context, turn: undefined };
    session
      .runInBackground(start, async (tool) => {
        await insideTool(tool, steps, beside);
        await finish(tool, status, rawOutput);
      })
      .catch((error: unknown) => {
        if (!(error instanceof FailedByScript)) throw error;
      })
      .then(() => runSteps(after, { ...beside, signal: run.ended }))
      .catch((error: unknown) => {
        if (run.ended.aborted) return;
        run.note({ event: "failed", where: "background", message: String(error) });
      });
  },
  start(_, { tool }) {
    tool?.start();
  },
  async add({ add }, { tool }) {
    await tool?.add(add);
  },
  async diff({ diff }, { tool }) {
    await tool?.diff(diff);
  },
  async patch({ patch }, { tool }) {
    await tool?.update(patch);
  },
  failTool({ failTool }) {
    throw new FailedByScript(failTool);
  },
  async display({ display, output = [], exit = { exitCode: 0 } }, { session, turn, tool }) {
    const terminal = (tool ?? turn ?? session).terminal(display);
    for (const text of [output].flat()) await terminal.write(text);
    if (exit !== false) terminal.exit(exit);
  },
  async ask({ ask, choices = [], on = {}, as }, context) {
    const { turn, tool, run, values } = context;
    const title = ask === true ? "this tool call" : typeof ask === "string" ? ask : ask.title;
    let answer = "cancelled";
    const onAnswer = ({ optionId }: PermissionOption) => {
      answer = optionId;
    };
    const allowed = await (ask === true && tool !== undefined
      ? tool.requestPermission({ options: choices, onAnswer })
      : questioner(turn).requestPermission({
          ...(typeof ask === "object" ? ask : { title, options: choices }),
          onAnswer,
        }));
    run.note({ event: "answer", title, optionId: answer });
    if (as !== undefined) values[as] = answer;
    const instead = answer === "cancelled" ? undefined : on[allowed ? "allowed" : "refused"];
    return runSteps(on[answer] ?? instead ?? [], context);
  },
  async elicit({ elicit, on = {}, as }, context) {
    const { turn, run, values } = context;
    if (turn === undefined) throw needsTurn("a question");
    const answer = await tried(run, "elicitation", () => turn.elicit(elicit));
    const action = answer?.action ?? "unavailable";
    if (answer !== undefined) run.note({ event: "answer", title: elicit.message, ...answer });
    if (as !== undefined) values[as] = answer ?? { action };
    return runSteps(on[action] ?? [], context);
  },
  completeElicitation({ completeElicitation }, { session }) {
    session.completeElicitation(completeElicitation);
  },
  async read({ read, line, limit, encoding, as }, { turn, run, values }) {
    const range = optional({ line, limit, encoding });
    const text = await tried(run, "files", () => turn?.client.files?.readText(read, range));
    if (text !== undefined) run.note({ event: "read", path: read, text });
    if (as !== undefined) values[as] = text ?? "unavailable";
  },
  async write({ write, content, encoding, overwrite }, { turn, run }) {
    const how = optional({ encoding, overwrite });
    const written = await tried(run, "files", () =>
      turn?.client.files?.writeText(write, content, how).then(() => true),
    );
    if (written) run.note({ event: "written", path: write });
  },
  async run({ run: command, ops = ["wait", "output", "release"], as }, context) {
    const { turn, tool, run, values } = context;
    const terminal = await tried(run, "terminals", () => turn?.client.terminals?.create(command));
    if (terminal === undefined) {
      if (as !== undefined) values[as] = "unavailable";
      return;
    }
    await tool?.add({ type: "terminal", terminalId: terminal.terminalId });
    const { pid } = terminal;
    if (pid !== undefined) run.note({ event: "terminal", command: command.command, op: "create", pid });
    const pushed: string[] = [];
    const stop = terminal.onOutput?.(({ data }) => pushed.push(data));
    for (const op of ops) {
      if (!isTerminalOp(op)) {
        const ended = await runSteps([op], context);
        if (ended !== undefined) return ended;
        continue;
      }
      const said = await tried(run, "terminals", async () => {
        if (op === "output") return terminal.output();
        if (op === "wait") return terminal.waitForExit();
        if (typeof op === "object" && "waitMs" in op) return terminal.waitForExit({ timeoutMs: op.waitMs });
        if (op === "release") await terminal.release();
        else await terminal.kill(op === "kill" ? undefined : op);
        return {};
      });
      if (said === undefined) continue;
      run.note({ event: "terminal", command: command.command, op, ...said });
      if (as !== undefined && "output" in said) values[as] = said.output;
    }
    stop?.();
    if (stop !== undefined) {
      run.note({ event: "terminal", command: command.command, op: "pushed", output: pushed.join("") });
    }
  },
  async take({ as }, { turn, run, signal, values }) {
    let text = "";
    const next = async () => {
      const taken = await turn?.inbox[Symbol.asyncIterator]().next();
      if (taken === undefined || taken.done) return;
      for (const block of taken.value.prompt) if (block.type === "text") text += block.text;
      run.note({ event: "taken", text });
    };
    await untilAborted(next(), signal);
    if (as !== undefined) values[as] = text;
  },
};

function isTerminalOp(op: TerminalOp | AgentStep): op is TerminalOp {
  return typeof op === "string" || "waitMs" in op || "signal" in op;
}

/** Runs the steps of a tool call. Cancelling only the call does not end the turn. */
async function insideTool(
  tool: ToolCallHandle,
  steps: readonly AgentStep[],
  context: StepContext,
): Promise<Ended | undefined> {
  const inside = { ...context, tool, signal: tool.signal };
  const ended = await runSteps(steps, inside);
  context.handlesCancel ||= inside.handlesCancel && context.signal.aborted;
  return tool.signal.aborted && !context.signal.aborted ? undefined : ended;
}

async function finish(
  tool: ToolCallHandle,
  status: "completed" | "failed" | "cancelled" | false,
  rawOutput: unknown,
): Promise<void> {
  const more = optional({ rawOutput });
  if (tool.signal.aborted) await tool.finish("cancelled", more);
  else if (status !== false) await tool.finish(status, more);
}

function questioner(turn: Turn | undefined): Turn {
  if (turn === undefined) throw needsTurn("a question");
  return turn;
}

function needsTurn(what: string): Error {
  return new Error(`${what} needs a turn: outside of one, put it into \`work\``);
}

/** The result; undefined, and reported, when the client refuses or does not support it. */
async function tried<Result>(
  run: AgentRun,
  what: string,
  work: () => Promise<Result> | undefined,
): Promise<Result | undefined> {
  try {
    const result = await work();
    if (result === undefined) run.note({ event: "unavailable", what });
    return result;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { kind, code, message } = error;
    run.note({ event: kind === "method_not_found" ? "unavailable" : "failed", what, code, message });
    return undefined;
  }
}

/** An event that a scripted agent reports, as plain JSON. */
export interface AgentEvent {
  /** The kind of the event: a prompt arrived, a question was answered, a file was read and so on. */
  readonly event:
    | "prompt"
    | "answer"
    | "read"
    | "written"
    | "terminal"
    | "taken"
    | "called"
    | "cancelled"
    | "login"
    | "option"
    | "unavailable"
    | "failed";
  /** Details, such as the text of a prompt or the content of a file. */
  readonly [detail: string]: unknown;
}

/** One connection of a scripted agent. */
export interface AgentRun {
  readonly wire: ScriptedWire;
  readonly gates: Gates;
  readonly clock: Clock;
  readonly runStep: StepRunner;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
  note(event: AgentEvent): void;
  /** Resolves when the next prompt for this session has arrived. */
  nextPrompt(sessionId: string): Promise<void>;
  /** Runs the work when the current turn has been answered. */
  afterTurn(sessionId: string, work: () => void): void;
}

/** The context in which a step runs. */
export interface StepContext {
  readonly run: AgentRun;
  readonly session: AgentSession;
  /** Absent outside turns. */
  readonly turn: Turn | undefined;
  readonly tool: ToolCallHandle | undefined;
  /** The values of `{{name}}` placeholders. */
  readonly values: Record<string, unknown>;
  /** Aborts at the end of the turn or of the connection. */
  readonly signal: AbortSignal;
  /** Whether the script handles its cancellation and goes on after it. */
  handlesCancel: boolean;
  /** The tokens that the end of the turn reports. */
  readonly spent: { usage?: Usage };
}

/** Ends the script and the turn. */
export class Ended {
  readonly end: StopReason | PromptResult;
  constructor(end: StopReason | PromptResult) {
    this.end = end;
  }
}

/** The end of the turn, or nothing. */
export type StepResult = Promise<Ended | undefined> | Promise<void> | Ended | undefined | void;

export type StepRunner = (step: AgentStep, context: StepContext) => StepResult;

/** The context of steps in a turn or, without one, outside of turns. */
export function stepContext(
  { run, session, values }: Pick<StepContext, "run" | "session" | "values">,
  turn?: Turn,
): StepContext {
  const signal = turn?.signal ?? run.ended;
  return { run, session, values, turn, tool: undefined, signal, handlesCancel: false, spent: {} };
}

/** Runs the steps of a turn, and gives its end. */
export async function runTurnSteps(steps: readonly AgentStep[], context: StepContext): Promise<PromptResult> {
  const { end } = (await runSteps(steps, context)) ?? {};
  const result = typeof end === "object" ? end : { stopReason: end ?? "end_turn" };
  return { ...context.spent, ...result };
}

/** Runs the steps in order, until one ends the turn or the turn is cancelled. */
export async function runSteps(
  steps: readonly AgentStep[],
  context: StepContext,
): Promise<Ended | undefined> {
  for (const step of steps) {
    if (context.signal.aborted && !context.handlesCancel) return new Ended("cancelled");
    const ended = await context.run.runStep(filledStep(step, context.values), context);
    if (ended instanceof Ended) return ended;
  }
  return undefined;
}

/** Fields with nested steps, whose placeholders are filled in when they run. */
const nested = new Set(["steps", "on", "ops", "later", "work", "after"]);

function filledStep(step: AgentStep, values: Values): AgentStep {
  const fields = Object.entries(step).map(([key, value]) => [
    key,
    nested.has(key) ? value : filled(value, values),
  ]);
  return Object.fromEntries(fields); // the same keys as before
}
