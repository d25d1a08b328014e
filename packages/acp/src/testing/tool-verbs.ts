// Tool calls and what happens inside them.

import type { Permission } from "../peer/questions.ts";
import { Ended, runSteps } from "./agent-run.ts";
import type { AgentVerb, Verbs } from "./agent-steps.ts";

class FailedByScript extends Error {}

export const toolVerbs: Verbs<
  Extract<AgentVerb, "tool" | "start" | "add" | "diff" | "patch" | "failTool" | "display" | "ask">
> = {
  async tool({ tool: start, steps = [], status = "completed", rawOutput }, place, runStep) {
    const { turn } = place;
    if (turn === undefined) throw new Error("a tool call needs a turn: outside of one, use `update`");
    const left = Promise.withResolvers<Ended | undefined>();
    const call = turn.tool(start, async (tool) => {
      const inside = { ...place, tool };
      const ended = await runSteps(steps, inside, runStep);
      place.heedsCancel ||= inside.heedsCancel;
      if (status === false) {
        left.resolve(ended);
        // it is left open: whoever ends the turn ends it
        await new Promise(() => undefined);
      }
      if (!place.signal.aborted || status === "cancelled") {
        await tool.finish(
          status === false ? "completed" : status,
          rawOutput === undefined ? {} : { rawOutput },
        );
      }
      return ended;
    });
    const finished = call.catch((error: unknown) => {
      if (error instanceof FailedByScript) return undefined;
      if (place.signal.aborted) return place.heedsCancel ? undefined : new Ended("cancelled");
      throw error;
    });
    return Promise.race([finished, left.promise]);
  },
  start(_, { tool }) {
    tool?.start();
    return undefined;
  },
  async add({ add }, { tool }) {
    await tool?.add(add);
    return undefined;
  },
  async diff({ diff: { path, newText, oldText } }, { tool }) {
    await tool?.diff(path, newText, oldText);
    return undefined;
  },
  async patch({ patch }, { tool }) {
    await tool?.update(patch);
    return undefined;
  },
  failTool({ failTool }) {
    throw new FailedByScript(failTool);
  },
  async display({ display, output = [], exit = { exitCode: 0 } }, { turn, tool }) {
    const terminal = turn?.terminal(display);
    if (terminal === undefined)
      throw new Error("a display terminal needs a turn: outside of one, use `update`");
    await tool?.terminal(terminal);
    for (const text of [output].flat()) await terminal.write(text);
    if (exit !== false) terminal.exit(exit);
    return undefined;
  },
  async ask({ ask, choices = [], on = {}, as }, place, runStep) {
    const { turn, tool, run, values } = place;
    if (turn === undefined) throw new Error("a question needs a turn");
    const title = ask === true ? "this tool call" : typeof ask === "string" ? ask : ask.title;
    const permission = await (ask === true && tool !== undefined
      ? tool.ask(choices)
      : turn.ask(typeof ask === "object" ? ask : { title, options: [...choices] }));
    const { optionId } = permission;
    run.note({ event: "answer", title, optionId: optionId ?? "cancelled" });
    if (as !== undefined) values[as] = optionId ?? "cancelled";
    return runSteps(branch(on, permission), place, runStep);
  },
};

function branch<Steps>(
  on: Readonly<Record<string, Steps>>,
  { allowed, optionId }: Permission,
): Steps | readonly [] {
  if (optionId === undefined) return on.cancelled ?? [];
  return on[optionId] ?? on[allowed ? "allowed" : "refused"] ?? [];
}
