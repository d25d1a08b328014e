// A session that outlives its agent's process: prompts wait for one another here, and what fails for a known reason is
// tried again where that cannot do anything twice.

import type { ClientSession, Entry, Outcome, SessionPlace, Update } from "@parley/acp";
import { type AvailableCommand, ConnectionError, type Meta, type SessionConfigOption } from "@parley/acp";
import type { LaunchedAgent } from "../launch/launch-agent.ts";
import { LaunchError } from "../launch/launch-error.ts";
import { tellWaiting } from "../launch/waiting.ts";
import { within } from "./deadline.ts";
import { EntryFilter } from "./entry-filter.ts";
import type { LiveSession } from "./live-agent.ts";
import type { LivePlace, PromptContent } from "./live-options.ts";
import { type LivePrompt, QueuedPrompt } from "./live-prompt.ts";
import { problemOf } from "./problem.ts";
import { recover } from "./recover.ts";
import type { SessionHost } from "./session-host.ts";
import { applySetup, type SessionSetup, type SetupProblem } from "./session-setup.ts";

type How = "new" | "loaded" | "resumed";

export class KeptSession implements LiveSession {
  readonly #live: SessionHost;
  readonly #place: LivePlace;
  readonly #updateListeners = new Set<(update: Update) => void>();
  readonly #entryListeners = new Set<(entry: Entry) => void>();
  /** What was chosen since; a process that is started anew does not know it. */
  readonly #chosen: Record<string, string | boolean> = {};
  readonly #queue: QueuedPrompt[] = [];
  #inner: ClientSession | undefined;
  #owner: LaunchedAgent | undefined;
  #filter: EntryFilter | undefined;
  /** The options as they were before it was taken up again. */
  #remembered: readonly SessionConfigOption[] = [];
  #sessionId = "";
  #seq = 0;
  #isRunning = false;
  #isEnded = false;
  #problems: readonly SetupProblem[] = [];

  constructor(live: SessionHost, place: LivePlace) {
    this.#live = live;
    this.#place = place;
    if (place.onUpdate !== undefined) this.#updateListeners.add(place.onUpdate);
    if (place.onEntry !== undefined) this.#entryListeners.add(place.onEntry);
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  get cwd(): string {
    return this.#place.cwd;
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
    return this.#queue.filter((prompt) => !prompt.isSent);
  }

  onUpdate(listener: (update: Update) => void): () => void {
    this.#updateListeners.add(listener);
    return () => this.#updateListeners.delete(listener);
  }

  onEntry(listener: (entry: Entry) => void): () => void {
    this.#entryListeners.add(listener);
    return () => this.#entryListeners.delete(listener);
  }

  prompt(content: PromptContent, options: { readonly meta?: Meta } = {}): LivePrompt {
    const prompt = new QueuedPrompt(content, options, (withdrawn) => this.#withdraw(withdrawn));
    if (this.#isEnded) prompt.fail(new ConnectionError("closed", "the session has been closed"));
    else {
      this.#queue.push(prompt);
      void this.#work();
    }
    return prompt;
  }

  cancel(): void {
    if (this.#queue.length === 0) this.#inner?.cancel();
    for (const prompt of [...this.#queue]) prompt.cancel();
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
    this.ended();
    await inner?.close().catch((error: unknown) => {
      // an agent that has gone has closed it
      if (!(error instanceof ConnectionError)) throw error;
    });
  }

  // ---- for the live agent and for recovery

  /** The session at the process that runs, or ran last. */
  get inner(): ClientSession | undefined {
    return this.#inner;
  }

  async openNew(replaces?: string): Promise<void> {
    this.#remembered = [];
    const opened = await this.#activated("new", (agent, place) => agent.open(place));
    this.#began(opened, "new", replaces);
    await this.#setUp(opened);
  }

  async openOld(sessionId: string, replay: "history" | "silent"): Promise<void> {
    this.#sessionId = sessionId;
    const { session, how } = await this.#reactivated(replay === "silent");
    this.#began(session, how);
    await this.#setUp(session);
  }

  /** The session at the agent that runs now, taken up again where that is another process than before. */
  async active(): Promise<ClientSession> {
    const launched = await this.#live.ready();
    if (this.#inner !== undefined && this.#owner === launched) return this.#inner;
    await this.takeUp();
    if (this.#inner === undefined) throw new ConnectionError("closed", "the session has been closed");
    return this.#inner;
  }

  /** Loads or resumes it; where the agent can do neither, a new one takes its place, and the user is told. */
  async takeUp(): Promise<void> {
    const launched = await this.#live.ready();
    const { resume, load } = launched.agent.features;
    if (!resume && !load) return this.replace();
    const after = this.#owner === launched ? "loss" : "restart";
    const { session, how } = await this.#reactivated(true);
    this.#live.options.onEvent?.({ kind: "continued", sessionId: this.#sessionId, how, after });
    await this.#setUp(session);
    this.#warn();
  }

  async replace(): Promise<void> {
    const after = this.#owner === (await this.#live.ready()) ? "loss" : "restart";
    await this.openNew(this.#sessionId);
    this.#live.options.onEvent?.({ kind: "continued", sessionId: this.#sessionId, how: "new", after });
    this.#warn();
  }

  ended(): void {
    this.#isEnded = true;
    this.#live.forget(this);
    for (const prompt of [...this.#queue]) prompt.cancel();
  }

  // ----

  #began({ sessionId, cwd }: ClientSession, how: How, replaces?: string): void {
    this.#sessionId = sessionId;
    const agent = this.#live.entry.name;
    this.#live.options.recorder?.begin({
      agent,
      sessionId,
      cwd,
      how,
      ...(replaces === undefined ? {} : { replaces }),
    });
    this.#filter?.startRecording();
  }

  async #reactivated(isSilent: boolean): Promise<{ session: ClientSession; how: "loaded" | "resumed" }> {
    let how: "loaded" | "resumed" = "resumed";
    const id = this.#sessionId;
    this.#remembered = this.options;
    const known = { options: this.options, commands: this.commands };
    const session = await this.#activated(isSilent ? "silent" : "history", (agent, given) => {
      const place = { ...given, known };
      const { resume, load } = agent.features;
      how = resume && (isSilent || !load) ? "resumed" : "loaded";
      return how === "resumed" ? agent.resume(id, place) : agent.load(id, place);
    });
    return { session, how };
  }

  /** Once more with twice the time, when the agent does not answer. */
  async #activated(
    what: "new" | "history" | "silent",
    call: (agent: LaunchedAgent["agent"], place: SessionPlace) => Promise<ClientSession>,
  ): Promise<ClientSession> {
    const { setupTimeoutMs = 60_000, onEvent } = this.#live.options;
    const { setup: _setup, onUpdate: _onUpdate, onEntry: _onEntry, ...place } = this.#place;
    const attempt = (timeoutMs: number) =>
      this.#live.authenticated(async (launched) => {
        const filter = new EntryFilter(what, (entry, isRecorded) => this.#entry(entry, isRecorded));
        this.#filter?.stop();
        this.#filter = filter;
        const onEntry = (entry: Entry): void => {
          this.#watched(entry);
          filter.entry(entry);
        };
        const work = call(launched.agent, { ...place, onEntry });
        const message = `${this.#live.entry.name} did not answer within ${timeoutMs} ms`;
        const answered = tellWaiting({ what: "session", timeoutMs }, launched.stderrTail, onEvent);
        const session = await within(
          timeoutMs,
          work,
          message,
          (late) => void late.close().catch(() => undefined),
        ).finally(answered);
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
    const setup: SessionSetup = {
      ...(mode === undefined ? {} : { mode }),
      ...(model === undefined ? {} : { model }),
      options: { ...options, ...this.#chosen },
    };
    this.#problems = await applySetup(session, setup, this.#remembered);
  }

  /** Whoever opened it looks for himself what could not be set; later nobody does. */
  #warn(): void {
    for (const { message } of this.#problems) this.#live.options.onEvent?.({ kind: "warning", message });
  }

  async #work(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let prompt = this.#queue[0]; prompt !== undefined; prompt = this.#queue[0]) {
      try {
        prompt.end(await this.#send(prompt));
      } catch (error) {
        prompt.fail(error instanceof Error ? error : new Error(String(error)));
      }
      if (this.#queue[0] === prompt) this.#queue.shift();
    }
    this.#isRunning = false;
  }

  async #send(prompt: QueuedPrompt): Promise<Outcome> {
    /** Why the session had to be taken up again. */
    let crash: unknown;
    for (;;) {
      if (prompt.signal.aborted) return { stopReason: "cancelled" };
      let failure: unknown;
      let outcome: Outcome | undefined;
      let watch: NodeJS.Timeout | undefined;
      try {
        const session = await this.active();
        if (prompt.signal.aborted) return { stopReason: "cancelled" };
        this.#filter?.beginPrompt();
        const { cancelTimeoutMs = 5_000 } = this.#live.options;
        const forget = () => this.#live.options.gate?.cancelled?.(session);
        prompt.signal.addEventListener("abort", forget, { once: true });
        watch = this.#watch();
        this.#live.options.gate?.prompted?.(session);
        outcome = await prompt.sendTo(session, cancelTimeoutMs, () => this.#stuck(cancelTimeoutMs));
        failure =
          outcome.stopReason === "error" ? (outcome.error ?? { code: 0, message: "error" }) : undefined;
      } catch (error) {
        failure = error;
      } finally {
        clearInterval(watch);
      }
      if (failure === undefined && outcome !== undefined) return outcome;
      if (prompt.signal.aborted) return { stopReason: "cancelled" };
      // it says what to do, and that is not to send the prompt again
      if (failure instanceof LaunchError) throw failure;
      const problem = problemOf(failure);
      // whoever keeps the agent has seen its end too
      if (problem.kind === "crash") {
        crash = failure;
        await this.#owner?.agent.closed;
      }
      const hasSpoken = this.#filter?.hasSpoken ?? false;
      if (await recover(this.#recovery(prompt), problem, hasSpoken)) continue;
      if (prompt.signal.aborted) return { stopReason: "cancelled" };
      if (outcome !== undefined) return outcome;
      // a process that was started anew and does not know the session is not what went wrong
      throw this.#withStderr(problem.kind === "session_not_found" ? (crash ?? failure) : failure);
    }
  }

  /** A question may name a tool call by its id alone; the gate wants to know what it is about. */
  #watched(entry: Entry): void {
    if (entry.kind === "update" && this.#inner !== undefined)
      this.#live.options.gate?.observe?.(this.#inner, entry.update);
  }

  /** The end of an agent, with what it wrote to stderr but for its keys. */
  #withStderr(failure: unknown): unknown {
    if (!(failure instanceof ConnectionError) || this.#owner === undefined) return failure;
    const { kind, message, exitCode, signal } = failure;
    return new ConnectionError(kind, message, { exitCode, signal, stderr: this.#owner.stderrTail() });
  }

  /** Tells when nothing has come for a while, once for each silence. */
  #watch(): NodeJS.Timeout {
    const { quietMs = 30_000, onEvent } = this.#live.options;
    let told = -1;
    let seen = this.#seq;
    return setInterval(() => {
      // silence is a whole interval in which nothing was counted, and somebody listened
      if (seen === this.#seq && told !== this.#seq && !this.#live.isPaused) {
        told = this.#seq;
        onEvent?.({ kind: "quiet", ms: quietMs });
      }
      seen = this.#seq;
    }, quietMs);
  }

  /** It neither ends its work nor says that it has: it is ended, and started anew for the next prompt. */
  #stuck(ms: number): void {
    const message = `${this.#live.entry.name} did not end its work within ${ms} ms of the cancel, and was ended`;
    this.#live.options.onEvent?.({ kind: "warning", message });
    this.#live.respawn("it did not end what was cancelled").catch(() => undefined);
  }

  #recovery(prompt: QueuedPrompt) {
    return {
      options: this.#live.options,
      counts: prompt.counts,
      signal: prompt.signal,
      isOver: this.#isEnded,
      canTakeUp: () => {
        const { resume, load } = this.#owner?.agent.features ?? {};
        return resume === true || load === true;
      },
      takeUp: () => this.takeUp(),
      replace: () => this.replace(),
      login: () => this.#live.login(),
    };
  }

  #withdraw(prompt: QueuedPrompt): void {
    if (prompt.isSent) return;
    const at = this.#queue.indexOf(prompt);
    // the first one is being worked on, and ends by itself
    if (at > 0) {
      this.#queue.splice(at, 1);
      prompt.end({ stopReason: "cancelled" });
    }
  }

  #entry(entry: Entry, isRecorded: boolean): void {
    this.#seq += 1;
    this.#live.heard();
    const numbered = entry.seq === this.#seq ? entry : { ...entry, seq: this.#seq };
    if (isRecorded) this.#live.options.recorder?.entry(this.#sessionId, numbered);
    for (const listener of this.#entryListeners) listener(numbered);
    if (numbered.kind !== "update") return;
    for (const listener of this.#updateListeners) listener(numbered.update);
  }
}
