// The turns of a session: the prompt that runs, those that wait, steering and stopping. An agent that says that it works
// has a turn, whatever it works on.

import type { ContentBlock, Entry, Prompt, PromptResult, SessionUpdate } from "@parley/acp";
import { modelWait } from "../conversation/model-wait.ts";
import type { Notice, QueuedPrompt, RunningTurn, TurnSummary } from "../conversation/session-link.ts";
import type { ManagedPrompt } from "../managed/managed-prompt.ts";
import type { ManagedSession } from "../managed/managed-session.ts";
import type { AttachedText, ChatInput } from "../prompt-input/chat-input.ts";
import type { LateUpdates } from "./late-updates.ts";
import type { SessionAgent, SessionHostOptions } from "./session-agent.ts";
import type { TurnChanges } from "./turn-changes.ts";
import { type WaitingPrompt, WaitingPrompts } from "./waiting-prompts.ts";

/** What turns need of their session. */
export interface TurnHost {
  changes(): TurnChanges | undefined;
  /** Undefined while nothing can be sent. */
  ready(): { readonly agent: SessionAgent; readonly session: ManagedSession } | undefined;
  /** The turn or the queue has changed. */
  changed(): void;
  /** For how long the user was asked, until now. */
  waitedMs(): number;
  notice(level: Notice["level"], text: string): void;
  /** The agent has ended, and was not started again. */
  crashed(error: unknown): Promise<void>;
  /** Why a prompt has no answer. `isShown`: the session shows it anyway. */
  unanswered(error: unknown, isShown: boolean): void;
  /** Whether somebody else asked for it. Absent: everything is shown, and all work is a turn. */
  readonly isOthers?: SessionHostOptions["isOthers"];
  /** Resolves when it is in the log, with what tells of it. It never rejects. */
  stored(summary: TurnSummary): Promise<() => void>;
}

/** The agent works, or waits for an answer. */
const workStates: ReadonlySet<string> = new Set(["running", "requires_action"]);

export class SessionTurns {
  readonly #host: TurnHost;
  readonly #queue = new WaitingPrompts();
  readonly #told: AttachedText[] = [];
  #preparing: readonly WaitingPrompt[] = [];
  /** Not in the transcript yet. */
  #sending: readonly string[] = [];
  /** Messages for the running work that the agent has not taken yet. */
  readonly #steering = new Map<WaitingPrompt, Prompt>();
  /** Those and the ones that it works on. */
  readonly #steered = new Set<Prompt>();
  #turn: RunningTurn | undefined;
  #end: Promise<void> = Promise.resolve();
  #prompt: ManagedPrompt | undefined;
  #lastPrompt: ManagedPrompt | undefined;
  /** Whether the agent has worked on the prompt. */
  #hasBegun = false;
  /** How the agent's last work ended, as it said itself. */
  #lastEnd: PromptResult = { stopReason: "end_turn" };
  /** Called when the agent may be idle. */
  #wake: () => void = () => undefined;
  #late: LateUpdates | undefined;
  /** Ends the wait for a snapshot. */
  #skip: (() => void) | undefined;

  constructor(host: TurnHost) {
    this.#host = host;
  }

  get turn(): RunningTurn | undefined {
    return this.#turn;
  }

  get queue(): readonly QueuedPrompt[] {
    return this.#queue.list;
  }

  get sending(): readonly string[] {
    return this.#sending;
  }

  get steering(): readonly string[] {
    return [...this.#steering.keys()].map(({ text }) => text);
  }

  /** Whether a turn runs whose prompt says how it ends, also when the agent crashes. */
  get endsWithPrompt(): boolean {
    return this.#preparing.length > 0 || this.#prompt !== undefined;
  }

  /** What the agent does not have yet: the prompt that is being prepared, and those that wait. */
  get unsent(): readonly QueuedPrompt[] {
    const all = [...this.#preparing, ...this.#steering.keys(), ...this.#queue.list];
    return all.map(({ id, text }) => ({ id, text }));
  }

  /** What has come after the end of a turn. Undefined before the first prompt. */
  get late(): Pick<LateUpdates, "hasLate" | "hasOutput"> | undefined {
    return this.#late;
  }

  /** Whether the agent says it to somebody else. */
  isOthers(entry: Entry): boolean {
    return entry.kind === "update" && this.#host.isOthers?.(entry.update, this.#lastPrompt) === true;
  }

  /** The agent has sent something. */
  heard(entry: Entry): void {
    this.#late?.entry(entry);
    const wait = modelWait(entry);
    if (wait !== undefined && this.#turn !== undefined)
      this.#turn = { ...this.#turn, wait: wait ?? undefined };
    const isPrompt = entry.kind === "update" && entry.update.sessionUpdate.startsWith("user_message");
    if (isPrompt || this.#hasBegun) this.#sending = [];
    this.#hasBegun ||=
      entry.kind === "ask" ||
      (entry.kind === "update" && /^(?:agent_|tool_call|plan)/.test(entry.update.sessionUpdate));
    if (entry.kind === "update" && entry.update.sessionUpdate === "state_update")
      this.#stateChanged(entry.update);
  }

  #stateChanged(update: StateUpdate): void {
    if (update.state === "idle") {
      // as: an unknown state has the same type of tag. The end of work has the fields of a result, all optional
      const { stopReason = "end_turn", usage, error } = update as Partial<PromptResult>;
      this.#lastEnd = { stopReason, ...(usage && { usage }), ...(error && { error }) };
    }
    this.#wake();
    this.pump();
  }

  /** For the agent, beside the next prompt. */
  tell(told: AttachedText): void {
    this.#told.push(told);
  }

  send(prompt: WaitingPrompt): void {
    this.#queue.add(prompt);
    this.#queueChanged();
  }

  async steer(prompt: WaitingPrompt): Promise<"steered" | "resent" | "sent"> {
    const ready = this.#host.ready();
    if (this.#turn === undefined || ready === undefined || this.#preparing.length > 0) {
      this.send(prompt);
      return "sent";
    }
    if (ready.agent.connection?.capabilities.steer === true && !this.#turn.isCancelling) {
      const told = this.#takeTold();
      const content = await this.#content(prompt.input, ready, told);
      if (!this.#isRunning()) {
        // the turn has ended meanwhile
        this.#told.unshift(...told);
        this.send(prompt);
        return "sent";
      }
      const steered = ready.session.steer(content);
      this.#watch(prompt, steered);
      return "steered";
    }
    this.#queue.addFirst(prompt);
    this.#queueChanged();
    this.stop();
    return "resent";
  }

  #takeTold(): AttachedText[] {
    const report = this.#host.changes()?.takeReport();
    return [...this.#told.splice(0), ...(report === undefined ? [] : [report])];
  }

  /** The state may have changed during an await. */
  #isRunning(): boolean {
    return this.#turn !== undefined;
  }

  /** Shown until the agent has taken it. What it never takes is held in the queue: nothing that was written is lost. */
  #watch(prompt: WaitingPrompt, steered: Prompt): void {
    this.#steering.set(prompt, steered);
    this.#steered.add(steered);
    this.#host.changed();
    steered.result
      .catch((error: unknown) => this.#complain(error))
      .finally(() => {
        this.#steered.delete(steered);
        this.#wake();
      });
    steered.accepted
      .catch(() => {
        this.#queue.addFirst(prompt);
        this.#queue.hold();
      })
      .finally(() => {
        this.#steering.delete(prompt);
        this.#queueChanged();
      });
  }

  unqueue(id: string): ChatInput | undefined {
    const input = this.#queue.take(id);
    this.#queueChanged();
    return input;
  }

  move(id: string, by: number): void {
    this.#queue.move(id, by);
    this.#queueChanged();
  }

  /** Stops the turn; what waits is held until the next `send`. */
  cancel(): void {
    if (this.#turn === undefined) return;
    this.#queue.hold();
    this.stop();
  }

  /** Stops the turn. */
  stop(): void {
    if (this.#turn === undefined) return;
    this.#turn = { ...this.#turn, isCancelling: true };
    // what the agent has not taken yet is withdrawn by itself
    for (const steered of this.#steering.values()) steered.cancel();
    if (this.#prompt !== undefined) this.#prompt.cancel();
    else if (this.#preparing.length === 0) this.#host.ready()?.session.cancel();
    this.#skip?.();
    this.#host.changed();
  }

  /** Stops the turn, ends the agent if it does not stop, and starts it again. */
  async force(): Promise<void> {
    const ready = this.#host.ready();
    if (this.#turn === undefined) return;
    this.cancel();
    await ready?.session.stopAgent();
    await this.#end;
    try {
      await ready?.session.activate();
    } catch (error) {
      await this.#host.crashed(error);
    }
  }

  /** What waits is not sent to an agent that has just crashed. */
  hold(): void {
    this.#queue.hold();
  }

  /** Sends the next prompt, if there is one and nothing is in its way. An agent that works has a turn without one. */
  pump(): void {
    const ready = this.#host.ready();
    if (this.#turn !== undefined || ready === undefined) return;
    const isWorking = this.#worksWithoutPrompt(ready);
    const prompt = isWorking ? undefined : this.#queue.next();
    if (prompt === undefined && !isWorking) return;
    this.#turn = { startedAt: Date.now(), isCancelling: false };
    this.#preparing = prompt === undefined ? [] : [prompt];
    this.#sending = this.#preparing.map(({ text }) => text);
    this.#host.changed();
    this.#end = this.#run(prompt, ready);
  }

  #worksWithoutPrompt({ session }: Ready): boolean {
    return this.#host.isOthers === undefined && workStates.has(session.state);
  }

  #queueChanged(): void {
    this.#host.changed();
    this.pump();
  }

  /** One turn. It never rejects. */
  async #run(prompt: WaitingPrompt | undefined, ready: Ready): Promise<void> {
    // the time in which the user was asked is not the agent's
    const worked = () => performance.now() - this.#host.waitedMs();
    const started = worked();
    const changes = this.#host.changes();
    let result: PromptResult = { stopReason: "error" };
    this.#hasBegun = false;
    try {
      // a snapshot that fails must not stop the turn
      const begun = changes?.begin(prompt?.text ?? "").catch((error: unknown) => this.#complain(error));
      await this.#unlessStopped(begun);
      if (prompt !== undefined) {
        const content = await this.#content(prompt.input, ready, this.#takeTold());
        result = await this.#answer(ready, content);
      }
      for (;;) {
        this.#prompt = undefined;
        result = (await this.#restOfWork(ready)) ?? result;
        // what the user said beside a no
        const text = ready.agent.takeUnsaid(ready.session.sessionId);
        if (text === undefined || this.#turn?.isCancelling !== false) break;
        result = await this.#answer(ready, [{ type: "text", text }]);
      }
    } catch (error) {
      result = (await this.#failed(error, prompt)) ?? result;
    }
    this.#prepared();
    this.#prompt = undefined;
    const changed = await this.#unlessStopped(changes?.end().catch(() => undefined));
    const durationMs = worked() - started;
    const tell = await this.#host.stored({ result, durationMs, ...(changed && { changed }) });
    this.#turn = undefined;
    this.#sending = [];
    tell();
    this.pump();
  }

  /** Waits until the agent is idle and has nothing left to do: it may begin with a message where it ended the work before. */
  async #restOfWork(ready: Ready): Promise<PromptResult | undefined> {
    let hasWorked = false;
    // a state that nobody knows begins nothing, and ends nothing
    const works = () => this.#worksWithoutPrompt(ready) || (hasWorked && ready.session.state !== "idle");
    while (this.#steered.size > 0 || works()) {
      hasWorked = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    return hasWorked ? this.#lastEnd : undefined;
  }

  /** A snapshot may take long, or hang on what the agent left behind. The user need not wait for it. */
  async #unlessStopped<T>(snapshot: Promise<T> | undefined): Promise<T | undefined> {
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    this.#skip = () => resolve(undefined);
    try {
      return await Promise.race([snapshot, stopped]);
    } finally {
      this.#skip = undefined;
    }
  }

  /** Returns the result if it is no error. */
  async #failed(error: unknown, prompt: WaitingPrompt | undefined): Promise<PromptResult | undefined> {
    const { isCrash, isTaken, isUnsent } = await import("./session-end.ts");
    if (isTaken(error)) {
      // it goes on elsewhere, which the session says
      this.#queue.hold();
      this.#host.unanswered(error, true);
      return { stopReason: "cancelled" };
    }
    const hasEnded = isCrash(error);
    this.#host.unanswered(error, hasEnded);
    if (!hasEnded && !isUnsent(error)) return undefined;
    // the agent has done nothing about it: it can be sent again
    if (!this.#hasBegun && prompt !== undefined) this.#queue.addFirst(prompt);
    // what waits is not sent to an agent that has just crashed
    this.#queue.hold();
    if (hasEnded) await this.#host.crashed(error);
    return undefined;
  }

  async #answer(ready: Ready, content: readonly ContentBlock[]): Promise<PromptResult> {
    if (this.#turn?.isCancelling !== false) return { stopReason: "cancelled" };
    this.#late ??= ready.agent.lateUpdates();
    this.#late.begin();
    const prompt = ready.session.prompt(content);
    this.#prompt = this.#lastPrompt = prompt;
    this.#prepared();
    const result = await prompt.result;
    // some agents send the end of their text after their answer; the next prompt would come between
    const { lateMs } = ready.agent;
    if (lateMs > 0) await this.#late.settled({ lateMs, signal: prompt.signal });
    return result;
  }

  /** The agent has it, or it could not be sent. */
  #prepared(): void {
    if (this.#preparing.length === 0) return;
    this.#preparing = [];
    this.#host.changed();
  }

  async #content(
    input: ChatInput,
    { agent, session }: Ready,
    told: readonly AttachedText[],
  ): Promise<readonly ContentBlock[]> {
    if (input.content !== undefined && told.length === 0) return input.content;
    const { promptBlocks } = await import("../prompt-input/prompt-blocks.ts");
    const accepts = agent.connection?.capabilities;
    if (accepts === undefined) throw new Error("the agent has not been started");
    const { content, notes } = await promptBlocks(input, told, { cwd: session.cwd, accepts });
    for (const note of notes) this.#host.notice("info", note);
    return content;
  }

  #complain(error: unknown): void {
    this.#host.notice("error", error instanceof Error ? error.message : String(error));
  }
}

type StateUpdate = Extract<SessionUpdate, { sessionUpdate: "state_update" }>;
type Ready = NonNullable<ReturnType<TurnHost["ready"]>>;
