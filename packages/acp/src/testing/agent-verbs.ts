// Implements the verbs for tool calls, questions, files, terminals and further prompts.

import { optional } from "../base/objects.ts";
import { RequestError } from "../jsonrpc/errors.ts";
import type { Permission } from "../peer/agent/turn/questions.ts";
import type { ToolCall } from "../peer/agent/turn/tool-call.ts";
import type { Turn } from "../peer/agent/turn/turn.ts";
import { type AgentRun, Ended, runSteps, type StepContext } from "./agent-run.ts";
import type { AgentStep } from "./agent-scenario.ts";
import type { AgentVerb, Verbs } from "./agent-steps.ts";
import { untilAborted } from "./gates.ts";

class FailedByScript extends Error {}

export const toolVerbs: Verbs<
  Extract<
    AgentVerb,
    "tool" | "background" | "start" | "add" | "diff" | "patch" | "failTool" | "display" | "ask"
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
      .background(start, async (tool) => {
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
  async diff({ diff: { path, newText, oldText } }, { tool }) {
    await tool?.diff(path, newText, oldText);
  },
  async patch({ patch }, { tool }) {
    await tool?.update(patch);
  },
  failTool({ failTool }) {
    throw new FailedByScript(failTool);
  },
  async display({ display, output = [], exit = { exitCode: 0 } }, { session, turn, tool }) {
    const terminal = (turn ?? session).terminal(display);
    await tool?.terminal(terminal);
    for (const text of [output].flat()) await terminal.write(text);
    if (exit !== false) terminal.exit(exit);
  },
  async ask({ ask, choices = [], on = {}, as }, context) {
    const { turn, tool, run, values } = context;
    const title = ask === true ? "this tool call" : typeof ask === "string" ? ask : ask.title;
    const permission = await (ask === true && tool !== undefined
      ? tool.ask(choices)
      : questioner(turn).ask(typeof ask === "object" ? ask : { title, options: [...choices] }));
    const { optionId } = permission;
    run.note({ event: "answer", title, optionId: optionId ?? "cancelled" });
    if (as !== undefined) values[as] = optionId ?? "cancelled";
    return runSteps(branch(on, permission), context);
  },
};

/** Runs the steps of a tool call. Cancelling only the call does not end the turn. */
async function insideTool(
  tool: ToolCall,
  steps: readonly AgentStep[],
  context: StepContext,
): Promise<Ended | undefined> {
  const inside = { ...context, tool, signal: tool.signal };
  const ended = await runSteps(steps, inside);
  context.handlesCancel ||= inside.handlesCancel && context.signal.aborted;
  return tool.signal.aborted && !context.signal.aborted ? undefined : ended;
}

async function finish(
  tool: ToolCall,
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

function branch<Steps>(
  on: Readonly<Record<string, Steps>>,
  { allowed, optionId }: Permission,
): Steps | readonly [] {
  if (optionId === undefined) return on.cancelled ?? [];
  return on[optionId] ?? on[allowed ? "allowed" : "refused"] ?? [];
}

export const serviceVerbs: Verbs<
  Extract<AgentVerb, "elicit" | "completeElicitation" | "read" | "write" | "run" | "take">
> = {
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
  async read({ read, line, limit, as }, { turn, run, values }) {
    const range = optional({ line, limit });
    const text = await tried(run, "files", () => turn?.client.files?.readText(read, range));
    if (text !== undefined) run.note({ event: "read", path: read, text });
    if (as !== undefined) values[as] = text ?? "unavailable";
  },
  async write({ write, content }, { turn, run }) {
    const written = await tried(run, "files", () =>
      turn?.client.files?.writeText(write, content).then(() => true),
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
    await tool?.terminal(terminal);
    for (const op of ops) {
      if (typeof op !== "string") {
        const ended = await runSteps([op], context);
        if (ended !== undefined) return ended;
        continue;
      }
      const said = await tried(run, "terminals", async () => {
        if (op === "output") return terminal.output();
        if (op === "wait") return terminal.waitForExit();
        await (op === "kill" ? terminal.kill() : terminal.release());
        return {};
      });
      if (said === undefined) continue;
      run.note({ event: "terminal", command: command.command, op, ...said });
      if (as !== undefined && "output" in said) values[as] = said.output;
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
    const { code, message } = error;
    run.note({ event: code === -32601 ? "unavailable" : "failed", what, code, message });
    return undefined;
  }
}
