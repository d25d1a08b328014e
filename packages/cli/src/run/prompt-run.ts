// Runs one prompt, from the start of the agent to its end.

import type { Entry, PromptResult } from "@parley/acp";
import { isOfTurn } from "@parley/acp/internal";
import { type AcceptedContent, PromptInputError, promptContent } from "@parley/client";
import { type ChatInput, hostWords, type Tail } from "@parley/client/conversation";
import {
  beginsWork,
  eventReporter,
  type KnownSession,
  type ManagedConnection,
  type ManagedSession,
  type OpenedSession,
  SessionHost,
  type SessionHostOptions,
  UnreadOutput,
} from "@parley/client/internal";
import { CommandError } from "../command/command.ts";
import { agentFacts } from "../live/agent-facts.ts";
import type { AgentTarget } from "../live/agent-target.ts";
import { type HistoryOpener, historyOpener } from "../live/history-opener.ts";
import { findTarget, foundBy, hostedAgent } from "../live/hosted-agent.ts";
import { LateHabit } from "../live/late-habit.ts";
import type { AgentUse, LiveAgent, LiveAgentSession } from "../live/live-agent.ts";
import { exitCodes, LiveError } from "../live/live-error.ts";
import { describeAgent, isRemote, liveErrorFrom, serverOf } from "../live/start-session.ts";
import { SlowReader } from "../printers/output.ts";
import type { RedactingPrinter } from "../printers/run-printer.ts";
import type { SecretsLoader } from "../settings/known-secrets.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { droppedUpdates } from "./dropped-updates.ts";
import type { Interrupts } from "./interrupts.ts";
import { type PromptText, readPrompt } from "./prompt-source.ts";
import type { RunFacts } from "./run-ending.ts";
import type { RunOptions } from "./run-options.ts";

/** How long an agent may take to end a cancelled turn before it is killed. */
const stopMs = 3_000;

/** How long our own agent may take to leave. */
const ownAgentMs = 5_000;

/** The agent with the session that is open there. */
interface Opened {
  readonly agent: LiveAgent;
  readonly running: ManagedConnection;
  readonly session: LiveAgentSession;
  readonly input: ChatInput;
}

export class PromptRun {
  readonly #options: RunOptions;
  readonly #printer: RedactingPrinter;
  readonly #interrupts: Interrupts;
  readonly #secrets: SecretsLoader;
  /** Aborts when the run must end, for any reason. */
  readonly #stopping = new AbortController();
  readonly #reader = new SlowReader(process.stdout);
  readonly #unread = new UnreadOutput();
  readonly #host: SessionHost;
  readonly #tail: Tail;
  readonly #ended = Promise.withResolvers<PromptResult>();
  /** What comes before the session is open. */
  #early: Entry[] | undefined = [];
  #history: HistoryOpener | undefined;
  #agent: LiveAgent | undefined;
  #opened: Opened | undefined;
  #stopAsking: () => void = () => undefined;
  #isModeAsking = false;
  /** A remote agent cannot be reached at the moment. */
  #isCut = false;
  /** The prompt is on its way or at work. */
  #isAtWork = false;
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
    this.#host = new SessionHost({
      cwd: options.cwd,
      agent: agentFacts(options, undefined),
      // it is followed from the beginning, and never cut
      keptChars: 0,
      keepsOpen: true,
      open: (session, found) => this.#open(session, found),
      problem: async (error) => ({ message: error instanceof Error ? error.message : String(error) }),
      unanswered: (error) => this.#ended.reject(error),
      isOthers: this.#isOthers,
    });
    this.#tail = this.#host.tail(undefined, (event) => {
      if (event.kind === "entries") for (const entry of event.entries) this.#entry(entry);
    });
    // awaited with the prompt; the agent may fail first
    this.#ended.promise.catch(() => undefined);
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
      failure = failureFrom(error, this.#agent?.target);
    } finally {
      clearTimeout(timer);
      this.#stopping.abort();
      this.#readOn();
      await this.#host.close();
      this.#stopAsking();
      this.#tail.stop();
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
      showsStderr: this.#options.showsStderr || (this.#agent !== undefined && isRemote(this.#agent.target)),
      outcome: this.#outcome,
      failure,
    };
  }

  async #work(): Promise<void> {
    await this.#host.start();
    if (this.#opened === undefined) return void (await this.#ended.promise);
    const { agent, running, session, input } = this.#opened;
    await this.#started(this.#opened);
    this.#stopping.signal.throwIfAborted();
    this.#isModeAsking = agent.isOwn && modeOf(session.session) === "ask";
    this.#printer.progress("waiting for the agent");
    this.#isAtWork = true;
    await this.#host.submit({ kind: "prompt", key: crypto.randomUUID(), input });
    this.#outcome = await this.#ended.promise;
    this.#isAtWork = false;
    await this.#finish(agent, running);
  }

  /** Called by the host. */
  async #open(session: SessionHost, found: (known: KnownSession) => void): Promise<OpenedSession> {
    try {
      const options = this.#options;
      const notice = (text: string) => this.#printer.notice(text);
      const reading = readPrompt(options.prompt, notice, this.#stopping.signal);
      // awaited below; the agent may fail first
      reading.catch(() => undefined);
      if (options.keepsHistory) this.#history = historyOpener(notice, this.#secrets);
      const given = { options, secrets: this.#secrets, history: this.#history };
      const host = hostedAgent(given, await findTarget(given), session, await this.#use(session));
      const { agent } = host;
      this.#agent = agent;
      found(foundBy(host));
      const [text, running] = await Promise.all([reading, agent.start()]);
      const target = await agent.resolve();
      found(foundBy(host));
      const content = await this.#content(text, target, running.capabilities);
      const opened = await agent.open(session);
      this.#opened = { agent, running, session: opened, input: { text: text.text, content } };
      return { agent: host, ...opened };
    } catch (error) {
      this.#ended.reject(error);
      throw error;
    }
  }

  /** How the agent is run. */
  async #use(session: SessionHost): Promise<AgentUse> {
    const { showsStderr, format, timeoutMs } = this.#options;
    const printer = this.#printer;
    const told = {
      showsProgress: printer.showsProgress,
      progress: (text: string) => printer.progress(safeLine(text)),
      notice: (text: string) => printer.notice(safeLine(text)),
      stderr: (text: string) => printer.stderr(text),
    };
    const report = eventReporter(told, { isVerbose: showsStderr, timeoutMs });
    // questions need a terminal for both input and output; process.stdin takes 5 ms to make
    const isAlone = format === "json" || !process.stderr.isTTY || !process.stdin.isTTY;
    if (!isAlone) {
      const { askAtTerminal } = await import("./terminal-questions.ts");
      this.#stopAsking = askAtTerminal(session, printer);
    }
    return {
      isAlone,
      asksAfterCrash: true,
      isUnpaced: true,
      cancelTimeoutMs: stopMs,
      isStderrShown: showsStderr && format !== "json",
      stopping: this.#stopping.signal,
      kill: this.#interrupts.second,
      lateMs: (running) => (this.#agent?.isOwn === true ? 0 : new LateHabit(running).lateMs),
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
    };
  }

  async #started({ agent, running, session: { session, isResumed, recording } }: Opened): Promise<void> {
    const { known, listed, entry, cwd, note } = agent.target;
    this.#printer.started({
      ...describeAgent(running, entry.name),
      sessionId: session.sessionId,
      session: recording?.id,
      name: known?.name ?? (listed === undefined ? this.#options.session : undefined),
      resumed: isResumed,
      cwd,
    });
    if (note !== undefined) this.#printer.notice(note);
    await this.#printer.load();
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const each of early) this.#printer.entry(each);
  }

  #entry(entry: Entry): void {
    const words = hostWords(entry);
    if (words?.kind === "notice") return this.#printer.notice(words.notice.text);
    if (words?.kind === "turn") return this.#ended.resolve(words.summary.result);
    if (this.#early !== undefined) return void this.#early.push(entry);
    const isStopping = this.#stopping.signal.aborted;
    // while stopping, output must not pile up
    if (isStopping && this.#reader.isBehind) return;
    this.#printer.entry(entry);
    if (!isStopping) this.#reader.holdIfBehind((isBehind) => this.#tail.hold(isBehind));
  }

  async #content({ text, piped }: PromptText, { cwd }: AgentTarget, accepts: AcceptedContent) {
    const { content, notes } = await promptContent(
      { text, attached: [piped], files: this.#options.images },
      { cwd: this.#options.isCwdGiven ? cwd : process.cwd(), accepts },
    );
    for (const note of notes) this.#printer.notice(note);
    return content;
  }

  /** A session that is continued may be at work for somebody else. A notice before the prompt is about the session. */
  readonly #isOthers: NonNullable<SessionHostOptions["isOthers"]> = (update, last) => {
    if (last?.isSent === true) return last.isBehind && isOfTurn(update.sessionUpdate);
    const { known, listed } = this.#agent?.target ?? {};
    return (known !== undefined || listed !== undefined) && beginsWork(update);
  };

  async #finish(agent: LiveAgent, running: ManagedConnection): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    // the next run may want the session, which our own agent holds until it has left
    await running.finish(agent.isOwn ? ownAgentMs : undefined);
    const { hasLate = false, hasOutput = false } = this.#host.late ?? {};
    // a turn that failed says little about the agent
    if (hasLate || this.#outcome?.stopReason === "end_turn") new LateHabit(running).note(hasLate);
    const dropped = droppedUpdates(running.counters);
    if (dropped !== undefined) this.#printer.notice(dropped);
    else if (this.#outcome?.stopReason === "end_turn" && !hasOutput)
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
    this.#readOn();
    if (this.#isCut) {
      this.#printer.notice("the server cannot be told to stop: the agent may go on there without us");
      return this.#end();
    }
    // the managed agent kills one that does not stop
    if (this.#isAtWork) void this.#host.submit({ kind: "cancel", key: crypto.randomUUID() });
    else this.#end();
  }

  /** The agent's last words must be read even if our output is blocked. */
  #readOn(): void {
    this.#reader.stop();
    this.#tail.hold(false);
  }

  #end(): void {
    this.#host.asked.withdrawAll();
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
