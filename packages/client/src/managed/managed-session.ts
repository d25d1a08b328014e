// A session that survives a crash of its agent: queues prompts, and sends them again where that does nothing twice.

import {
  type ClientSession,
  ConnectionError,
  type Entry,
  type Prompt,
  type PromptResult,
  type SessionConfigOption,
  type SessionEnd,
  type SessionState,
  type SessionUpdate,
} from "@parley/acp";
import {
  bindMethods,
  charsOf,
  clientSessionMethods,
  PromptQueue,
  SessionEvents,
  unreadLimits,
} from "@parley/acp/internal";
import type { AvailableCommand, JsonValue, Meta } from "@parley/acp/model";
import { LaunchError } from "../launch/launch-error.ts";
import type { Custom } from "./log-in.ts";
import type { ManagedSessionOptions } from "./managed-options.ts";
import type { ManagedProcess } from "./managed-process.ts";
import {
  checkContent,
  ManagedPrompt,
  type ManagedPromptOptions,
  type PromptContent,
} from "./managed-prompt.ts";
import { problemOf, reopeningProblem, withCrash } from "./problem.ts";
import { type Recovery, recover } from "./recover.ts";
import { SessionActivation } from "./session-activation.ts";
import type { SetupProblem } from "./session-setup.ts";
import { SilenceWatch } from "./silence-watch.ts";

interface Attempt {
  readonly outcome?: PromptResult;
  readonly failure?: unknown;
  /** The prompt was not sent: the session could not be opened again. */
  readonly isReopening?: boolean;
}

/** What a session needs of those who keep it. */
export interface SessionKeeper {
  /** Throws if the session cannot be opened under this id. */
  checkId(sessionId: string): void;
  /** The session takes no more prompts. */
  ended(): void;
  /** The session has been closed. `work` resolves when its last prompt has ended. */
  closed(work: Promise<unknown>): Promise<void>;
}

export class ManagedSession implements ClientSession {
  data: unknown;
  readonly #process: ManagedProcess;
  readonly #keeper: SessionKeeper;
  readonly #place: ManagedSessionOptions;
  readonly #events: SessionEvents;
  readonly #queue = new PromptQueue<ManagedPrompt>((prompt) => this.#work(prompt));
  readonly #activation: SessionActivation;
  #silence: SilenceWatch | undefined;
  #seq = 0;
  #isClosed = false;
  readonly #closed = Promise.withResolvers<SessionEnd>();
  /** An agent that crashes and a client that takes the session end nothing: the next prompt opens it again. */
  readonly closed: Promise<SessionEnd> = this.#closed.promise;

  constructor(process: ManagedProcess, place: ManagedSessionOptions, keeper: SessionKeeper) {
    this.#process = process;
    this.#keeper = keeper;
    this.#place = place;
    this.#activation = new SessionActivation(process, place, {
      checkId: keeper.checkId,
      deliver: (entry, isRecorded) => this.#entry(entry, isRecorded),
    });
    this.#events = new SessionEvents(process.options.log ?? (() => undefined));
    if (place.onUpdate !== undefined) this.#events.onUpdate(place.onUpdate);
    if (place.onEntry !== undefined) this.#events.onEntry(place.onEntry);
  }

  get sessionId(): string {
    return this.#activation.sessionId;
  }

  get cwd(): string {
    return this.#place.cwd;
  }

  get roots(): readonly string[] {
    return [this.#place.cwd, ...(this.#place.additionalDirectories ?? [])];
  }

  get configOptions(): readonly SessionConfigOption[] {
    return this.inner?.configOptions ?? [];
  }

  get availableCommands(): readonly AvailableCommand[] {
    return this.inner?.availableCommands ?? [];
  }

  get state(): SessionState {
    return this.inner?.state ?? "idle";
  }

  get _meta(): Meta | undefined {
    return this.inner?._meta;
  }

  /** The problems of the setup. After a restart they are reported as events too. */
  get setupProblems(): readonly SetupProblem[] {
    return this.#activation.problems;
  }

  /** The prompts that wait, oldest first; each can be cancelled by itself. */
  get waiting(): readonly ManagedPrompt[] {
    return this.prompts.filter((prompt) => !prompt.isSent);
  }

  onUpdate(listener: (update: SessionUpdate) => void): () => void {
    return this.#events.onUpdate(listener);
  }

  onEntry(listener: (entry: Entry) => void): () => void {
    return this.#events.onEntry(listener);
  }

  /** Sent when all earlier ones have ended, in every edition. */
  prompt(content: PromptContent, options: ManagedPromptOptions = {}): ManagedPrompt {
    this.#checkOpen("prompt");
    checkContent(content, this.#process.latest.capabilities);
    const limits = unreadLimits(this.#process.options.connection ?? {});
    const prompt = new ManagedPrompt(content, options, limits, (cancelled) => {
      // one that has started ends by itself
      if (this.#queue.withdraw(cancelled)) cancelled.end({ stopReason: "cancelled" });
    });
    if (options.signal?.aborted) prompt.end({ stopReason: "cancelled" });
    else this.#queue.add(prompt);
    return prompt;
  }

  /** Goes to the prompt that runs; without one it is a prompt. It is not sent again after a crash. */
  steer(content: PromptContent, options: ManagedPromptOptions = {}): Prompt {
    this.#checkOpen("steer");
    const { inner } = this;
    if (this.#queue.current?.isSent === true && inner !== undefined) return inner.steer(content, options);
    if (this.#queue.current === undefined || this.#process.latest.capabilities.steer)
      return this.prompt(content, options);
    throw new TypeError(
      "steer: this agent takes no messages while it works; session.prompt() waits for the end",
    );
  }

  cancel(custom?: Custom): void {
    const prompts = this.prompts;
    const { inner } = this;
    if (prompts.length === 0 && inner !== undefined) {
      // the agent may work without a prompt
      inner.cancel(custom);
    }
    for (const prompt of prompts) prompt.cancel();
  }

  async cancelToolCall(toolCallId: string, custom?: Custom): Promise<Custom> {
    this.#checkOpen("cancelToolCall");
    return (await this.inner?.cancelToolCall(toolCallId, custom)) ?? {};
  }

  async cancelTerminal(terminalId: string, custom?: Custom): Promise<Custom> {
    this.#checkOpen("cancelTerminal");
    return (await this.inner?.cancelTerminal(terminalId, custom)) ?? {};
  }

  async setConfigOption(configId: string, value: JsonValue, custom?: Custom): Promise<Custom> {
    this.#checkOpen("setConfigOption");
    const session = await this.#activation.active();
    const result = await session.setConfigOption(configId, value, custom);
    this.#activation.chosen[configId] = value;
    return result;
  }

  async setMode(mode: string, custom?: Custom): Promise<Custom> {
    this.#checkOpen("setMode");
    const session = await this.#activation.active();
    const result = await session.setMode(mode, custom);
    const option = session.configOptions.find((each) => each.category === "mode");
    if (option !== undefined) this.#activation.chosen[option.configId] = mode;
    return result;
  }

  async setTitle(title: string, custom?: Custom): Promise<Custom & { readonly title: string }> {
    this.#checkOpen("setTitle");
    return (await this.#activation.active()).setTitle(title, custom);
  }

  async close(custom?: Custom): Promise<Custom> {
    const { inner } = this;
    const work = this.end();
    try {
      return (await inner?.close(custom)) ?? {};
    } catch (error) {
      // an agent that has ended has closed it
      if (!(error instanceof ConnectionError)) throw error;
      return {};
    } finally {
      // after its last entry
      this.#process.options.recorder?.ended?.(this.sessionId);
      this.#events.end();
      await this.#keeper.closed(work);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed) await this.close();
  }

  // ---- called by the agent

  get inner(): ClientSession | undefined {
    return this.#activation.inner;
  }

  openNew(): Promise<void> {
    return this.#activation.openNew();
  }

  openFork(sessionId: string, before?: string): Promise<void> {
    return this.#activation.openFork(sessionId, before);
  }

  openOld(sessionId: string, replay: "history" | "silent"): Promise<void> {
    return this.#activation.openOld(sessionId, replay);
  }

  /** Another client has it: it is opened again with the next prompt. */
  taken(): void {
    this.#activation.isTaken = true;
  }

  reportProblems(): void {
    this.#activation.reportProblems();
  }

  /** Opens it again now, if its agent has ended; otherwise the next prompt does that. Of a session that is lost, the user is asked. */
  async activate(): Promise<void> {
    this.#checkOpen("activate");
    try {
      await this.#activation.active();
    } catch (error) {
      const problem = reopeningProblem(error);
      if (problem.kind !== "session_not_found") throw error;
      const { signal } = new AbortController();
      if (!((await this.#process.options.asker?.newSession?.(problem, { signal })) ?? false)) throw error;
      await this.#activation.replace();
    }
  }

  /** Ends the agent, whatever it does. The session goes on with the next prompt, or with `activate`. */
  async stopAgent(): Promise<void> {
    for (const prompt of this.prompts) prompt.cancel();
    await this.#process.restart("it was stopped");
  }

  /** Withdraws all prompts, and takes no more. Resolves when the last one has ended. */
  end(): Promise<unknown> {
    const prompts = this.prompts;
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#closed.resolve({ reason: "closed" });
      this.#keeper.ended();
      for (const prompt of prompts) prompt.cancel();
    }
    return Promise.allSettled(prompts.map((prompt) => prompt.result));
  }

  /** It is gone at the agent. */
  async leave(): Promise<void> {
    await this.#keeper.closed(this.end());
  }

  #checkOpen(method: string): void {
    if (!this.#isClosed) return;
    throw new ConnectionError("closed", `${method}: the session has been closed; open or load another one`);
  }

  // ---- prompts

  /** The one that runs, then those that wait. */
  get prompts(): readonly ManagedPrompt[] {
    const { current, waiting } = this.#queue;
    return current === undefined ? [...waiting] : [current, ...waiting];
  }

  async #work(prompt: ManagedPrompt): Promise<undefined> {
    try {
      prompt.end(await this.#send(prompt));
    } catch (error) {
      prompt.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #send(prompt: ManagedPrompt): Promise<PromptResult> {
    /** The reason why the session had to be reopened. */
    let crash: unknown;
    for (;;) {
      if (prompt.signal.aborted) return { stopReason: "cancelled" };
      const { outcome, failure, isReopening = false } = await this.#attempt(prompt);
      if (failure === undefined && outcome !== undefined) return outcome;
      if (prompt.signal.aborted) return { stopReason: "cancelled" };
      // its hint says what to do, and that is not to send the prompt again
      if (failure instanceof LaunchError) throw failure;
      const problem = isReopening ? reopeningProblem(failure) : problemOf(failure);
      if (problem.kind === "crash") {
        crash = failure;
        // the managed agent has then seen the end too
        await this.#activation.owner?.agent.closed;
      }
      const { hasBegun } = this.#activation;
      if (await recover(this.#recovery(prompt), withCrash(problem, this.#withStderr(crash)), hasBegun))
        continue;
      if (prompt.signal.aborted) return { stopReason: "cancelled" };
      if (outcome !== undefined) return outcome;
      // that a restarted agent does not know the session is a consequence of the crash
      throw this.#withStderr(problem.kind === "session_not_found" ? (crash ?? failure) : failure);
    }
  }

  async #attempt(prompt: ManagedPrompt): Promise<Attempt> {
    const { cancelTimeoutMs = 5_000 } = this.#process.options;
    const watch = new SilenceWatch(this.#process);
    let isReopening = true;
    try {
      const session = await this.#activation.active();
      isReopening = false;
      if (prompt.signal.aborted) return { outcome: { stopReason: "cancelled" } };
      this.#activation.beginPrompt();
      this.#silence = watch;
      watch.heard();
      const outcome = await prompt.sendTo(session, cancelTimeoutMs, () => this.#stuck(cancelTimeoutMs));
      if (outcome.stopReason !== "error") return { outcome };
      return { outcome, failure: outcome.error ?? { code: 0, message: "error" } };
    } catch (failure) {
      return { failure, isReopening };
    } finally {
      watch.end();
    }
  }

  #recovery(prompt: ManagedPrompt): Recovery {
    return {
      options: this.#process.options,
      counts: prompt.counts,
      signal: prompt.signal,
      isOver: this.#isClosed,
      session: this.#activation,
      login: (why) => this.#process.loginAgain(why),
    };
  }

  /** The end of an agent, with what it wrote to stderr but for its keys. */
  #withStderr(failure: unknown): unknown {
    if (!(failure instanceof ConnectionError) || this.#activation.owner === undefined) return failure;
    const { kind, message, exitCode, signal } = failure;
    return new ConnectionError(kind, message, {
      exitCode,
      signal,
      stderr: this.#activation.owner.stderrTail(),
    });
  }

  /** The agent did not end its work after a cancel: it is stopped, and started again for the next prompt. */
  #stuck(ms: number): void {
    const message = `${this.#process.entry.name} did not end its work within ${ms} ms of the cancel, and was ended`;
    this.#process.options.onEvent?.({ kind: "warning", message });
    this.#process.restart("it did not end its work after a cancel").catch(() => undefined);
  }

  // ---- entries

  #entry(entry: Entry, isRecorded: boolean): void {
    this.#seq += 1;
    this.#process.noteActivity();
    this.#silence?.heard();
    const chars = entry.kind === "update" ? charsOf(entry.update) : 0;
    const numbered = entry.seq === this.#seq ? entry : { ...entry, seq: this.#seq };
    if (isRecorded) this.#process.options.recorder?.entry(this.#activation.sessionId, numbered);
    const { current } = this.#queue;
    // first: it says whether the update belongs to the prompt
    if (numbered.kind === "update" && current?.isSent) current.push(numbered.update, chars);
    this.#events.deliver(numbered, chars);
    if (numbered.kind === "update") this.#events.update(numbered.update);
  }
}

bindMethods(ManagedSession, clientSessionMethods);
