// Runs one prompt, from the start of the agent to its end.

import type { PromptResult, SessionUpdate } from "@parley/acp";
import { isOfTurn } from "@parley/acp/internal";
import { type AcceptedContent, PromptInputError, promptContent } from "@parley/client";
import { eventReporter, type HostAsker, UnreadOutput } from "@parley/client/host";
import {
  beginsWork,
  type ManagedConnection,
  type ManagedPrompt,
  type ManagedSession,
} from "@parley/client/internal";
import { CommandError } from "../command/command.ts";
import { type AgentTarget, agentTarget } from "../live/agent-target.ts";
import { askerName } from "../live/asker-name.ts";
import { checkNew, claimKnown, type HistoryOpener, historyOpener } from "../live/history-opener.ts";
import { LateHabit } from "../live/late-habit.ts";
import { LiveAgent } from "../live/live-agent.ts";
import { exitCodes, LiveError } from "../live/live-error.ts";
import { describeAgent, isRemote, liveErrorFrom, serverOf } from "../live/start-session.ts";
import type { RedactingPrinter } from "../printers/run-printer.ts";
import type { SecretsLoader } from "../settings/known-secrets.ts";
import { painter } from "../terminal/paint.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { droppedUpdates } from "./dropped-updates.ts";
import { EntryForwarder } from "./entry-forwarder.ts";
import type { Interrupts } from "./interrupts.ts";
import { type PromptText, readPrompt } from "./prompt-source.ts";
import type { RunFacts } from "./run-ending.ts";
import type { RunOptions } from "./run-options.ts";

/** How long an agent may take to end a cancelled turn before it is killed. */
const stopMs = 3_000;

/** How long our own agent may take to leave. */
const ownAgentMs = 5_000;

export class PromptRun {
  readonly #options: RunOptions;
  readonly #printer: RedactingPrinter;
  readonly #interrupts: Interrupts;
  readonly #secrets: SecretsLoader;
  /** Aborts when the run must end, for any reason. */
  readonly #stopping = new AbortController();
  readonly #entries = new EntryForwarder(
    (entry) => this.#printer.entry(entry),
    (update) => this.#isOthers(update),
  );
  readonly #unread = new UnreadOutput();
  #history: HistoryOpener | undefined;
  #target: AgentTarget | undefined;
  #agent: LiveAgent | undefined;
  #prompt: ManagedPrompt | undefined;
  #continues = false;
  #isModeAsking = false;
  /** A remote agent cannot be reached at the moment. */
  #isCut = false;
  #outcome: PromptResult | undefined;
  #timedOutMs: number | undefined;

  constructor(
    options: RunOptions,
    printer: RedactingPrinter,
    interrupts: Interrupts,
    secrets: SecretsLoader,
  ) {
    this.#secrets = secrets;
    this.#options = options;
    this.#printer = printer;
    this.#interrupts = interrupts;
  }

  async run(): Promise<RunFacts> {
    const { timeoutMs } = this.#options;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#timeOut(timeoutMs), timeoutMs);
    const stop = () => this.#stop();
    // the signal kills its process
    const kill = () => this.#end();
    this.#interrupts.first.addEventListener("abort", stop);
    this.#interrupts.second.addEventListener("abort", kill);
    let failure: LiveError | undefined;
    try {
      if (this.#interrupts.first.aborted) stop();
      await this.#work();
    } catch (error) {
      failure = failureFrom(error, this.#target);
    } finally {
      clearTimeout(timer);
      this.#stopping.abort();
      this.#entries.stop();
      await this.#agent?.close();
      this.#entries.end();
      await this.#history?.close();
    }
    for (const line of this.#unread.lines) this.#printer.notice(line);
    const gates = this.#agent?.gates ?? [];
    return {
      wasInterrupted: this.#interrupts.first.aborted,
      timedOutMs: this.#timedOutMs,
      refusals: gates.flatMap(({ refusals }) => refusals),
      refused: gates.reduce((sum, { refused }) => sum + refused, 0),
      violations: gates.flatMap(({ violations }) => violations),
      isModeAsking: this.#isModeAsking,
      // a remote agent has none to show
      showsStderr: this.#options.showsStderr || (this.#target !== undefined && isRemote(this.#target)),
      outcome: this.#outcome,
      failure,
    };
  }

  async #work(): Promise<void> {
    const notice = (text: string) => this.#printer.notice(text);
    const reading = readPrompt(this.#options.prompt, notice, this.#stopping.signal);
    // awaited below; the agent may fail first
    reading.catch(() => undefined);
    if (this.#options.keepsHistory) this.#history = historyOpener(notice, this.#secrets);
    const chosen = await agentTarget(this.#options, this.#history);
    this.#target = chosen;
    if (chosen.known !== undefined) await claimKnown(this.#history, chosen.known, this.#options.takesOver);
    const [input, { agent, running }] = await Promise.all([reading, this.#start(chosen)]);
    const target = await agent.resolve();
    this.#target = target;
    this.#continues = target.known !== undefined || target.listed !== undefined;
    const content = await this.#content(input, target, running.capabilities);
    const session = await this.#session(agent, running);
    this.#stopping.signal.throwIfAborted();
    this.#isModeAsking = agent.isOwn && modeOf(session) === "ask";
    await this.#answer(agent, running, session.prompt(content));
    for (;;) {
      const text = agent.takeUnsaid(session.sessionId);
      if (text === undefined || this.#stopping.signal.aborted) break;
      await this.#answer(agent, running, session.prompt([{ type: "text", text }]));
    }
    await this.#finish(agent, running);
  }

  /** Starts the agent. */
  async #start(target: AgentTarget): Promise<{ agent: LiveAgent; running: ManagedConnection }> {
    const { showsStderr, format, timeoutMs } = this.#options;
    const printer = this.#printer;
    const told = {
      showsProgress: printer.showsProgress,
      progress: (text: string) => printer.progress(safeLine(text)),
      notice: (text: string) => printer.notice(safeLine(text)),
      stderr: (text: string) => printer.stderr(text),
    };
    const report = eventReporter(told, { isVerbose: showsStderr, timeoutMs });
    const asker = await this.#asker(target);
    this.#agent = new LiveAgent({
      options: this.#options,
      target,
      secrets: this.#secrets,
      history: this.#history,
      asker,
      askTrust: asker && ((lines) => this.#askTrust(lines)),
      cancelTimeoutMs: stopMs,
      isStderrShown: showsStderr && format !== "json",
      signal: this.#stopping.signal,
      kill: this.#interrupts.second,
      notice: (text) => printer.notice(text),
      onEvent: (event) => {
        // while the agent's process starts
        if (event.kind === "starting" || event.kind === "connecting") setImmediate(() => void printer.load());
        if (event.kind === "cut") this.#isCut = true;
        if (event.kind === "back") this.#isCut = false;
        if (event.kind === "unread") this.#unread.add(event);
        else report(event);
      },
      onDecision: ({ summary, effect, by, reason }) =>
        printer.decision({ what: summary, effect, by, reason }),
    });
    return { agent: this.#agent, running: await this.#agent.start() };
  }

  /** Questions need a terminal for both input and output. */
  async #asker({ entry, cwd }: AgentTarget): Promise<HostAsker | undefined> {
    // process.stdin takes 5 ms to make
    if (this.#options.format === "json" || !process.stderr.isTTY || !process.stdin.isTTY) return undefined;
    const { terminalAsker } = await import("./terminal-asker.ts");
    const name = () => askerName(entry, this.#agent?.running?.info);
    const source = {
      cwd,
      get agent() {
        return name();
      },
    };
    return terminalAsker(source, painter(true), this.#printer);
  }

  async #session(agent: LiveAgent, running: ManagedConnection): Promise<ManagedSession> {
    const { session: name } = this.#options;
    const { target } = agent;
    const { session, isResumed, recorder } = await agent.open((entry) => this.#entries.entry(entry), {
      name,
    });
    if (name !== undefined && target.known === undefined) await checkNew(recorder, name);
    this.#printer.started({
      ...describeAgent(running, target.entry.name),
      sessionId: session.sessionId,
      session: recorder?.id,
      name: target.known?.name ?? (target.listed === undefined ? name : undefined),
      resumed: isResumed,
      cwd: target.cwd,
    });
    if (target.note !== undefined) this.#printer.notice(target.note);
    await this.#printer.load();
    this.#entries.open(running);
    return session;
  }

  async #askTrust(lines: readonly string[]): Promise<boolean> {
    const { askedTrust } = await import("../trust/trust.ts");
    this.#printer.pause();
    return askedTrust(lines, this.#stopping.signal).finally(() => this.#printer.resume());
  }

  async #content({ text, piped }: PromptText, { cwd }: AgentTarget, accepts: AcceptedContent) {
    const { content, notes } = await promptContent(
      { text, attached: [piped], files: this.#options.images },
      { cwd: this.#options.isCwdGiven ? cwd : process.cwd(), accepts },
    );
    for (const note of notes) this.#printer.notice(note);
    return content;
  }

  async #answer(agent: LiveAgent, running: ManagedConnection, prompt: ManagedPrompt): Promise<void> {
    this.#prompt = prompt;
    this.#outcome = undefined;
    this.#printer.progress("waiting for the agent");
    this.#entries.late.begin();
    this.#outcome = await prompt.result;
    if (agent.isOwn || !new LateHabit(running).mayBeLate) return;
    const { lateMs } = running.spec.traits ?? {};
    await this.#entries.late.settled({ lateMs, signal: this.#stopping.signal });
  }

  /** A session that is continued may be at work for somebody else. A notice before the prompt is about the session. */
  #isOthers(update: SessionUpdate): boolean {
    if (this.#prompt?.isSent !== true) return this.#continues && beginsWork(update);
    return this.#prompt.isBehind && isOfTurn(update.sessionUpdate);
  }

  async #finish(agent: LiveAgent, running: ManagedConnection): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    // the next run may want the session, which our own agent holds until it has left
    await running.finish(agent.isOwn ? ownAgentMs : undefined);
    const { hasLate } = this.#entries.late;
    // a turn that failed says little about the agent
    if (hasLate || this.#outcome?.stopReason === "end_turn") new LateHabit(running).note(hasLate);
    const dropped = droppedUpdates(running.counters);
    if (dropped !== undefined) this.#printer.notice(dropped);
    else if (this.#outcome?.stopReason === "end_turn" && !this.#entries.late.hasOutput)
      this.#printer.notice("the agent ended its turn without output");
  }

  #timeOut(ms: number): void {
    this.#timedOutMs = ms;
    this.#stop();
  }

  /** Asks the agent to stop. */
  #stop(): void {
    this.#printer.progress("stopping (press Ctrl-C again to kill the agent)");
    this.#stopping.abort();
    this.#entries.stop();
    // its response must be read even if our output is blocked
    this.#agent?.running?.resume();
    if (this.#isCut) {
      this.#printer.notice("the server cannot be told to stop: the agent may go on there without us");
      return this.#end();
    }
    // the managed agent kills one that does not stop
    if (this.#prompt === undefined || this.#outcome !== undefined) this.#end();
    else this.#prompt.cancel();
  }

  #end(): void {
    // awaited at the end of the run
    void this.#agent?.running?.close();
  }
}

function failureFrom(error: unknown, target: AgentTarget | undefined): LiveError {
  if (error instanceof LiveError) return error;
  if (error instanceof CommandError)
    return new LiveError(error.exitCode, error.code, error.message, error.hint);
  if (error instanceof PromptInputError) {
    return new LiveError(exitCodes.usage, "usage", error.message, "see parley help run");
  }
  if (error instanceof Error && error.name === "AbortError") {
    return new LiveError(exitCodes.cancelled, "cancelled", "cancelled");
  }
  const known = liveErrorFrom(error, { server: target && serverOf(target) });
  if (known instanceof LiveError) return known;
  throw known;
}

/** The current mode, by its id. */
function modeOf({ configOptions }: ManagedSession): unknown {
  return configOptions.find(({ category }) => category === "mode")?.currentValue;
}
