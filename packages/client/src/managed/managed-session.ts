// A session that survives a crash of its agent: reopens itself, and sends prompts again where that does nothing twice.

import {
  type AvailableCommand,
  type ClientSession,
  ConnectionError,
  type Entry,
  type Meta,
  type Outcome,
  type SessionConfigOption,
  type SessionPlace,
  type Update,
} from "@parley/acp";
import { optional, PromptQueue, SessionEvents, unreadLimits, withTimeout } from "@parley/acp/internal";
import type { LaunchedAgent } from "../launch/launch-agent.ts";
import { LaunchError } from "../launch/launch-error.ts";
import { reportWaiting } from "../launch/report-waiting.ts";
import { EntryFilter } from "./entry-filter.ts";
import type { LivePlace, PromptContent } from "./live-options.ts";
import type { LivePrompt, LiveSession } from "./live-session.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { charsOf, ManagedPrompt } from "./managed-prompt.ts";
import { problemOf } from "./problem.ts";
import { recover } from "./recover.ts";
import { applySetup, type SetupProblem } from "./session-setup.ts";
import { watchSilence } from "./watch-silence.ts";

type How = "new" | "loaded" | "resumed";

export class ManagedSession implements LiveSession {
  data: unknown;
  readonly #process: ManagedProcess;
  readonly #ended: () => void;
  readonly #place: LivePlace;
  readonly #events: SessionEvents;
  readonly #queue = new PromptQueue<ManagedPrompt>((prompt) => this.#work(prompt));
  /** Options that were set after the session was opened; a restarted agent does not know them. */
  readonly #chosen: Record<string, string | boolean> = {};
  /** The session at the process that runs, or ran last, and that process. */
  #inner: ClientSession | undefined;
  #owner: LaunchedAgent | undefined;
  #filter: EntryFilter | undefined;
  /** The options as they were before the session was reopened. */
  #optionsBefore: readonly SessionConfigOption[] = [];
  #sessionId = "";
  #seq = 0;
  #isClosed = false;
  #problems: readonly SetupProblem[] = [];

  /** `ended` is called when the session is closed. */
  constructor(process: ManagedProcess, place: LivePlace, ended: () => void) {
    this.#process = process;
    this.#ended = ended;
    this.#place = place;
    this.#events = new SessionEvents(process.options.client.log ?? (() => undefined));
    if (place.onUpdate !== undefined) this.#events.onUpdate(place.onUpdate);
    if (place.onEntry !== undefined) this.#events.onEntry(place.onEntry);
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  get cwd(): string {
    return this.#place.cwd;
  }

  get roots(): readonly string[] {
    return [this.#place.cwd, ...(this.#place.additionalDirectories ?? [])];
  }

  get options(): readonly SessionConfigOption[] {
    return this.#inner?.options ?? [];
  }

  get commands(): readonly AvailableCommand[] {
    return this.#inner?.commands ?? [];
  }

  get state(): string {
    return this.#inner?.state ?? "idle";
  }

  get meta(): Meta | undefined {
    return this.#inner?.meta;
  }

  get setupProblems(): readonly SetupProblem[] {
    return this.#problems;
  }

  get waiting(): readonly LivePrompt[] {
    return this.#prompts().filter((prompt) => !prompt.isSent);
  }

  onUpdate(listener: (update: Update) => void): () => void {
    return this.#events.onUpdate(listener);
  }

  onEntry(listener: (entry: Entry) => void): () => void {
    return this.#events.onEntry(listener);
  }

  prompt(content: PromptContent, options: { readonly meta?: Meta } = {}): LivePrompt {
    const limits = unreadLimits(this.#process.options.client);
    const prompt = new ManagedPrompt(content, options, limits, (cancelled) => {
      // one that has started ends by itself
      if (this.#queue.withdraw(cancelled)) cancelled.end({ stopReason: "cancelled" });
    });
    if (this.#isClosed) prompt.fail(closedError());
    else this.#queue.add(prompt);
    return prompt;
  }

  cancel(): void {
    const prompts = this.#prompts();
    if (prompts.length === 0) this.#inner?.cancel();
    for (const prompt of prompts) prompt.cancel();
  }

  async cancelToolCall(toolCallId: string): Promise<void> {
    await (await this.active()).cancelToolCall(toolCallId);
  }

  async cancelTerminal(terminalId: string): Promise<void> {
    await (await this.active()).cancelTerminal(terminalId);
  }

  async setOption(configId: string, value: string | boolean): Promise<void> {
    const session = await this.active();
    await session.setOption(configId, value);
    this.#chosen[configId] = value;
  }

  async setMode(mode: string): Promise<void> {
    const session = await this.active();
    await session.setMode(mode);
    const option = session.options.find((each) => each.category === "mode");
    if (option !== undefined) this.#chosen[option.configId] = mode;
  }

  async close(): Promise<void> {
    const inner = this.#owner === undefined ? undefined : this.#inner;
    this.end();
    await inner?.close().catch((error: unknown) => {
      // an agent that has ended has closed it
      if (!(error instanceof ConnectionError)) throw error;
    });
  }

  // ---- called by the agent

  /** The session at the process that runs, or ran last. */
  get inner(): ClientSession | undefined {
    return this.#inner;
  }

  async openNew(replaces?: string): Promise<void> {
    this.#optionsBefore = [];
    const opened = await this.#activate("new", (agent, place) => agent.open(place));
    this.#startRecording(opened, "new", replaces);
    await this.#setUp(opened);
  }

  async openOld(sessionId: string, replay: "history" | "silent"): Promise<void> {
    this.#sessionId = sessionId;
    const { session, how } = await this.#loadOrResume(replay === "silent");
    this.#startRecording(session, how);
    await this.#setUp(session);
  }

  /** Withdraws all prompts, and takes no more. */
  end(): void {
    this.#isClosed = true;
    this.#ended();
    for (const prompt of this.#prompts()) prompt.cancel();
  }

  /** The session at the running agent, reopened when that is another process than before. */
  async active(): Promise<ClientSession> {
    const launched = await this.#process.running();
    if (this.#inner !== undefined && this.#owner === launched) return this.#inner;
    await this.#reopen();
    if (this.#inner === undefined) throw closedError();
    return this.#inner;
  }

  // ---- opening

  /** Loads or resumes it; opens a new one in its place when the agent can do neither. */
  async #reopen(): Promise<void> {
    const launched = await this.#process.running();
    const { resume, load } = launched.agent.features;
    if (!resume && !load) return this.#replace();
    const after = this.#owner === launched ? "loss" : "restart";
    const { session, how } = await this.#loadOrResume(true);
    this.#process.options.onEvent?.({ kind: "continued", sessionId: this.#sessionId, how, after });
    await this.#setUp(session);
    this.#reportProblems();
  }

  async #replace(): Promise<void> {
    const after = this.#owner === (await this.#process.running()) ? "loss" : "restart";
    await this.openNew(this.#sessionId);
    this.#process.options.onEvent?.({ kind: "continued", sessionId: this.#sessionId, how: "new", after });
    this.#reportProblems();
  }

  #startRecording({ sessionId, cwd }: ClientSession, how: How, replaces?: string): void {
    this.#sessionId = sessionId;
    const agent = this.#process.entry.name;
    this.#process.options.recorder?.begin({ agent, sessionId, cwd, how, ...optional({ replaces }) });
    this.#filter?.startRecording();
  }

  async #loadOrResume(isSilent: boolean): Promise<{ session: ClientSession; how: "loaded" | "resumed" }> {
    let how: "loaded" | "resumed" = "resumed";
    const id = this.#sessionId;
    this.#optionsBefore = this.options;
    const known = { options: this.options, commands: this.commands };
    const session = await this.#activate(isSilent ? "silent" : "history", (agent, given) => {
      const place = { ...given, known };
      const { resume, load } = agent.features;
      how = resume && (isSilent || !load) ? "resumed" : "loaded";
      return how === "resumed" ? agent.resume(id, place) : agent.load(id, place);
    });
    return { session, how };
  }

  /** Tries once more with twice the time when the agent does not answer. */
  async #activate(
    what: "new" | "history" | "silent",
    call: (agent: LaunchedAgent["agent"], place: SessionPlace) => Promise<ClientSession>,
  ): Promise<ClientSession> {
    const { setupTimeoutMs = 60_000, onEvent } = this.#process.options;
    const { setup: _setup, onUpdate: _onUpdate, onEntry: _onEntry, ...place } = this.#place;
    const attempt = (timeoutMs: number) =>
      this.#process.authenticated(async (launched) => {
        const filter = new EntryFilter(what, (entry, isRecorded) => this.#entry(entry, isRecorded));
        this.#filter?.stop();
        this.#filter = filter;
        const onEntry = (entry: Entry): void => {
          this.#observe(entry);
          filter.entry(entry);
        };
        const work = call(launched.agent, { ...place, onEntry });
        const answered = reportWaiting({ what: "session", timeoutMs }, launched.stderrTail, onEvent);
        const session = await withTimeout(timeoutMs, work).finally(answered);
        if (session === undefined) {
          void work.then((late) => late.close()).catch(() => undefined);
          const message = `${this.#process.entry.name} did not answer within ${timeoutMs} ms`;
          throw new ConnectionError("timeout", message);
        }
        filter.activated();
        this.#inner = session;
        this.#owner = launched;
        return session;
      });
    try {
      return await attempt(setupTimeoutMs);
    } catch (error) {
      const problem = problemOf(error);
      if (problem.kind !== "timeout") throw error;
      onEvent?.({ kind: "retrying", problem, delayMs: 0, attempt: 1 });
      return attempt(2 * setupTimeoutMs);
    }
  }

  async #setUp(session: ClientSession): Promise<void> {
    const { mode, model, options } = this.#place.setup ?? {};
    const setup = { ...optional({ mode, model }), options: { ...options, ...this.#chosen } };
    this.#problems = await applySetup(session, setup, this.#optionsBefore);
  }

  /** For a session that is reopened: its opener does not look at `setupProblems` again. */
  #reportProblems(): void {
    for (const { message } of this.#problems) this.#process.options.onEvent?.({ kind: "warning", message });
  }

  // ---- prompts

  /** The one that runs, then those that wait. */
  #prompts(): readonly ManagedPrompt[] {
    const { current, waiting } = this.#queue;
    return current === undefined ? waiting : [current, ...waiting];
  }

  async #work(prompt: ManagedPrompt): Promise<undefined> {
    try {
      prompt.end(await this.#send(prompt));
    } catch (error) {
      prompt.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #send(prompt: ManagedPrompt): Promise<Outcome> {
    /** The reason why the session had to be reopened. */
    let crash: unknown;
    for (;;) {
      if (prompt.signal.aborted) return { stopReason: "cancelled" };
      const { outcome, failure } = await this.#attempt(prompt);
      if (failure === undefined && outcome !== undefined) return outcome;
      if (prompt.signal.aborted) return { stopReason: "cancelled" };
      // its hint says what to do, and that is not to send the prompt again
      if (failure instanceof LaunchError) throw failure;
      const problem = problemOf(failure);
      if (problem.kind === "crash") {
        crash = failure;
        // the managed agent has then seen the end too
        await this.#owner?.agent.closed;
      }
      const hasBegun = this.#filter?.hasBegun ?? false;
      if (await recover(this.#recovery(prompt), problem, hasBegun)) continue;
      if (prompt.signal.aborted) return { stopReason: "cancelled" };
      if (outcome !== undefined) return outcome;
      // that a restarted agent does not know the session is a consequence of the crash
      throw this.#withStderr(problem.kind === "session_not_found" ? (crash ?? failure) : failure);
    }
  }

  async #attempt(prompt: ManagedPrompt): Promise<{ outcome?: Outcome; failure?: unknown }> {
    const { cancelTimeoutMs = 5_000, gate } = this.#process.options;
    let watch: NodeJS.Timeout | undefined;
    try {
      const session = await this.active();
      if (prompt.signal.aborted) return { outcome: { stopReason: "cancelled" } };
      this.#filter?.beginPrompt();
      prompt.signal.addEventListener("abort", () => gate?.cancelled?.(session), { once: true });
      watch = watchSilence(this.#process, () => this.#seq);
      gate?.prompted?.(session);
      const outcome = await prompt.sendTo(session, cancelTimeoutMs, () => this.#stuck(cancelTimeoutMs));
      if (outcome.stopReason !== "error") return { outcome };
      return { outcome, failure: outcome.error ?? { code: 0, message: "error" } };
    } catch (failure) {
      return { failure };
    } finally {
      clearInterval(watch);
    }
  }

  #recovery(prompt: ManagedPrompt) {
    return {
      options: this.#process.options,
      counts: prompt.counts,
      signal: prompt.signal,
      isOver: this.#isClosed,
      canReopen: () => {
        const { resume, load } = this.#owner?.agent.features ?? {};
        return resume === true || load === true;
      },
      reopen: () => this.#reopen(),
      replace: () => this.#replace(),
      login: () => this.#process.login(),
    };
  }

  /** The end of an agent, with what it wrote to stderr but for its keys. */
  #withStderr(failure: unknown): unknown {
    if (!(failure instanceof ConnectionError) || this.#owner === undefined) return failure;
    const { kind, message, exitCode, signal } = failure;
    return new ConnectionError(kind, message, { exitCode, signal, stderr: this.#owner.stderrTail() });
  }

  /** The agent did not end its work after a cancel: it is stopped, and started again for the next prompt. */
  #stuck(ms: number): void {
    const message = `${this.#process.entry.name} did not end its work within ${ms} ms of the cancel, and was ended`;
    this.#process.options.onEvent?.({ kind: "warning", message });
    this.#process.restart("it did not end its work after a cancel").catch(() => undefined);
  }

  // ---- entries

  /** A question may name a tool call by its id alone, so the gate sees the updates. */
  #observe(entry: Entry): void {
    if (entry.kind === "update" && this.#inner !== undefined)
      this.#process.options.gate?.observe?.(this.#inner, entry.update);
  }

  #entry(entry: Entry, isRecorded: boolean): void {
    this.#seq += 1;
    this.#process.noteActivity();
    const chars = entry.kind === "update" ? charsOf(entry.update) : 0;
    const numbered = entry.seq === this.#seq ? entry : { ...entry, seq: this.#seq };
    if (isRecorded) this.#process.options.recorder?.entry(this.#sessionId, numbered);
    this.#events.deliver(numbered, chars);
    if (numbered.kind !== "update") return;
    const { current } = this.#queue;
    if (current?.isSent) current.push(numbered.update, chars);
    this.#events.update(numbered.update);
  }
}

function closedError(): ConnectionError {
  return new ConnectionError("closed", "the session has been closed");
}
