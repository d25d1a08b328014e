// One prompt, from the start of the agent to its end.

import type { ConnectedAgent, Entry, Outcome, Prompt } from "@parley/acp";
import { CommandError } from "../command-error.ts";
import type { Interrupts } from "./interrupts.ts";
import { openSession } from "./open-session.ts";
import { type PromptText, readPrompt } from "./prompt-source.ts";
import { exitCodes, RunError, type RunFacts } from "./run-ending.ts";
import type { RunOptions } from "./run-options.ts";
import type { RunPrinter } from "./run-printer.ts";
import { type RunRecorder, runRecorder } from "./run-recorder.ts";

/** How long an agent may take to end its turn after it was told to, before it is ended itself. */
const stopMs = 5_000;

export class PromptRun {
  readonly #options: RunOptions;
  readonly #printer: RunPrinter;
  readonly #interrupts: Interrupts;
  readonly #refusals: string[] = [];
  /** What the agent said before the session was announced. */
  #early: Entry[] | undefined = [];
  #recorder: RunRecorder | undefined;
  #agent: ConnectedAgent | undefined;
  #isOver = false;
  #outcome: Outcome | undefined;
  #timedOutMs: number | undefined;

  constructor(options: RunOptions, printer: RunPrinter, interrupts: Interrupts) {
    this.#options = options;
    this.#printer = printer;
    this.#interrupts = interrupts;
  }

  async run(): Promise<RunFacts> {
    let failure: RunError | undefined;
    try {
      await this.#work();
    } catch (error) {
      if (error instanceof CommandError)
        failure = new RunError(error.exitCode, error.code, error.message, error.hint);
      else if (error instanceof RunError) failure = error;
      else throw error;
    } finally {
      this.#isOver = true;
      await this.#agent?.close();
      await this.#recorder?.close();
    }
    return {
      wasInterrupted: this.#interrupts.first.aborted,
      timedOutMs: this.#timedOutMs,
      refusals: this.#refusals,
      outcome: this.#outcome,
      failure,
    };
  }

  async #work(): Promise<void> {
    const reading = readPrompt(this.#options.prompt, (text) => this.#printer.notice(text));
    this.#printer.progress("starting the agent");
    this.#recorder = await runRecorder(this.#options, (text) => this.#printer.notice(text));
    const opening = openSession(this.#options, {
      permission: (ask) => {
        this.#refusals.push(ask.title);
        this.#printer.decision({ what: ask.title, allowed: false, why: "nobody is there to ask" });
        return ask.options.find(({ kind }) => kind === "reject_once")?.optionId;
      },
      onEntry: (entry) => this.#entry(entry),
      connected: (agent) => {
        this.#agent = agent;
        // there is no prompt after all
        if (this.#isOver) void agent.close();
      },
    });
    const [input, { agent, session }] = await Promise.all([reading, opening]);
    const content = await this.#content(input, agent.features);
    this.#recorder?.begin({ sessionId: session.sessionId, cwd: this.#options.cwd });
    await this.#started(agent, session.sessionId);
    await this.#answer(session.prompt(content));
  }

  async #content({ text, piped }: PromptText, accepts: ConnectedAgent["features"]) {
    const { promptContent, PromptInputError } = await import("@parley/client");
    const { cwd, images } = this.#options;
    try {
      const { content, notes } = await promptContent(
        { text, attached: [piped], files: images },
        { cwd, accepts },
      );
      for (const note of notes) this.#printer.notice(note);
      return content;
    } catch (error) {
      if (!(error instanceof PromptInputError)) throw error;
      throw new RunError(exitCodes.usage, "usage", error.message, "see parley help run");
    }
  }

  async #started({ info, version }: ConnectedAgent, sessionId: string): Promise<void> {
    this.#printer.started({
      agent: { name: info?.name ?? "unknown", ...(info && { version: info.version }) },
      protocol: version,
      sessionId,
      session: await this.#recorder?.id,
      name: this.#recorder?.name,
      resumed: false,
      cwd: this.#options.cwd,
    });
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const entry of early) this.#entry(entry);
  }

  #entry(entry: Entry): void {
    if (this.#early !== undefined) {
      this.#early.push(entry);
      return;
    }
    this.#recorder?.entry("", entry);
    this.#printer.entry(entry);
  }

  async #answer(prompt: Prompt): Promise<void> {
    const stop = () => this.#stop(prompt);
    const timer = this.#options.timeoutMs && setTimeout(() => this.#timeOut(stop), this.#options.timeoutMs);
    this.#interrupts.first.addEventListener("abort", stop);
    try {
      if (this.#interrupts.first.aborted) stop();
      this.#outcome = await prompt.outcome;
    } catch (error) {
      throw new RunError(exitCodes.agentError, "agent_gone", (error as Error).message); // what outcome rejects with
    } finally {
      clearTimeout(timer);
      this.#interrupts.first.removeEventListener("abort", stop);
    }
  }

  #timeOut(stop: () => void): void {
    this.#timedOutMs = this.#options.timeoutMs;
    stop();
  }

  #stop(prompt: Prompt): void {
    this.#printer.progress("stopping (Ctrl-C again ends the agent)");
    prompt.cancel();
    const end = () => void this.#agent?.close("it did not stop");
    setTimeout(end, stopMs).unref();
    this.#interrupts.second.addEventListener("abort", end);
  }
}
