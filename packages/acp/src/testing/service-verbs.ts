// Implements the verbs for elicitations, files, terminals and further prompts.

import { optional } from "../base/optional.ts";
import { RequestError } from "../jsonrpc/errors.ts";
import type { AgentRun } from "./agent-run.ts";
import { runSteps } from "./agent-run.ts";
import type { AgentVerb, Verbs } from "./agent-steps.ts";
import { untilAborted } from "./gates.ts";
import { needsTurn } from "./tool-verbs.ts";

export const serviceVerbs: Verbs<
  Extract<AgentVerb, "elicit" | "completeElicitation" | "read" | "write" | "run" | "take">
> = {
  async elicit({ elicit, on = {}, as }, context, runStep) {
    const { turn, run, values } = context;
    if (turn === undefined) throw needsTurn("a question");
    const answer = await tried(run, "elicitation", () => turn.elicit(elicit));
    const action = answer?.action ?? "unavailable";
    if (answer !== undefined) run.note({ event: "answer", title: elicit.message, ...answer });
    if (as !== undefined) values[as] = answer ?? { action };
    return runSteps(on[action] ?? [], context, runStep);
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
  async run({ run: command, ops = ["wait", "output", "release"], as }, context, runStep) {
    const { turn, tool, run, values } = context;
    const terminal = await tried(run, "terminals", () => turn?.client.terminals?.create(command));
    if (terminal === undefined) {
      if (as !== undefined) values[as] = "unavailable";
      return;
    }
    await tool?.terminal(terminal);
    for (const op of ops) {
      if (typeof op !== "string") {
        const ended = await runSteps([op], context, runStep);
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
