// Runs background commands, each as its own tool call that ends with the command; the `job` tool reports on them.

import type { TerminalHandle } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { defineTool, textPart } from "../base/define-tool.ts";
import {
  type AgentTerminals,
  type BackgroundJob,
  type BackgroundJobs,
  type JobCommand,
  type RunContext,
  ToolError,
  type ToolResult,
} from "../base/tool.ts";
import { tailOf } from "../base/truncation.ts";
import { plainOutput } from "./command-output.ts";
import { runHere } from "./run-command.ts";

/** Maximum number of remembered jobs; the oldest ended ones are forgotten. */
const maxKept = 32;
const maxRunning = 16;

interface Running extends BackgroundJob {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  terminal: TerminalHandle | undefined;
  result: ToolResult | undefined;
  isOver: boolean;
}

/** Jobs run on this machine, since the client's terminals belong to a turn. */
export class SessionJobs implements BackgroundJobs {
  readonly #terminals: AgentTerminals;
  readonly #jobs = new Map<string, Running>();
  #count = 0;

  constructor(terminals: AgentTerminals) {
    this.#terminals = terminals;
  }

  get running(): readonly BackgroundJob[] {
    return [...this.#jobs.values()].filter(({ isOver }) => !isOver);
  }

  async start(
    { background, outputs, connect, vetoes }: RunContext,
    command: JobCommand,
  ): Promise<BackgroundJob> {
    if (this.running.length >= maxRunning) {
      const ids = this.running.map(({ id }) => id).join(", ");
      throw new ToolError(
        `${maxRunning} commands are already running in the background (${ids}); stop one first`,
      );
    }
    this.#count += 1;
    const id = `job-${this.#count}`;
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const stop = new AbortController();
    const job: Running = {
      id,
      command: command.command,
      stop,
      ended: ended.promise,
      terminal: undefined,
      result: undefined,
      isOver: false,
    };
    const start = {
      title: `${id}: ${command.command}`,
      kind: "execute" as const,
      rawInput: { id, ...command },
    };
    background(start, async (call) => {
      try {
        const signal = AbortSignal.any([call.signal, stop.signal]);
        const context = {
          call,
          outputs,
          signal,
          connect,
          // the turn may be over by then, so it is only told
          keeps: async () => false,
          terminals: this.#terminals,
          ...optional({ vetoes }),
        };
        job.result = await runHere(context, command, (handle) => {
          job.terminal = handle;
          started.resolve();
        });
        const { rawOutput, hasFailed } = job.result;
        await call.finish(hasFailed ? "failed" : "completed", {
          rawOutput: { id, ...(rawOutput as object) },
        }); // bash results have an object
      } catch (error) {
        started.reject(error);
        if (!stop.signal.aborted) throw error;
        await call.finish("cancelled", { rawOutput: { id, status: "stopped" } });
      } finally {
        job.isOver = true;
        job.terminal = undefined;
        ended.resolve();
      }
    });
    await started.promise;
    this.#keep(job);
    return job;
  }

  async look(id: string): Promise<ToolResult> {
    const { command, terminal, result, isOver } = this.#find(id);
    const title = `${id}: ${command}`;
    if (isOver || terminal === undefined) {
      if (result === undefined)
        return { content: [textPart(`${title}\n\n[it was stopped]`)], rawOutput: { id, status: "stopped" } };
      const raw = { ...(result.rawOutput as object), id, status: "ended" }; // bash results have an object
      return { content: [textPart(title), ...result.content], rawOutput: raw };
    }
    const { text } = tailOf(plainOutput((await terminal.output()).output));
    const shown = `${title}\n${text === "" ? "[no output yet]" : text}\n\n[it is running]`;
    return { content: [textPart(shown)], rawOutput: { id, status: "running" } };
  }

  async end(id: string): Promise<void> {
    const { stop, ended } = this.#find(id);
    stop.abort(new DOMException("it was stopped", "AbortError"));
    await ended;
  }

  #find(id: string): Running {
    const job = this.#jobs.get(id);
    if (job !== undefined) return job;
    const ids = [...this.#jobs.keys()].join(", ");
    throw new ToolError(
      `There is no background command ${JSON.stringify(id)}. ${ids === "" ? "None was started" : `There are: ${ids}`}.`,
    );
  }

  #keep(job: Running): void {
    this.#jobs.set(job.id, job);
    for (const { id, isOver } of this.#jobs.values()) {
      if (this.#jobs.size <= maxKept) return;
      if (isOver) this.#jobs.delete(id);
    }
  }
}

export const jobTool = defineTool({
  name: "job",
  description:
    "Check a background command of bash: whether it is still running, its exit code and the end of its output. Set stop to end it first, with all processes that it started.",
  isReadOnly: false,
  draft: { title: "Check a command", kind: "read" },
  aliases: { id: ["job_id", "jobId", "bash_id", "shell_id", "task_id"], stop: ["kill", "end"] },
  properties: {
    id: { type: "string", minLength: 1, description: "The id that bash returned" },
    stop: { type: "boolean", description: "End it first. Default false" },
  },
  required: ["id"],
  prepare: ({ id, stop = false }) => ({
    presentation: { title: stop ? `Stop ${id}` : `Check ${id}`, kind: stop ? "execute" : "read" },
    // the user has already allowed the command
    access: { type: "none" },
    async run({ jobs }) {
      if (stop) await jobs.end(id);
      return jobs.look(id);
    },
  }),
});
