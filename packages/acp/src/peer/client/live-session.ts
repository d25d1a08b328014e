// One session at the client while its connection lives: what the edition and the connection do with it.

import type { SessionSetup } from "../../edition/agent-ops.ts";
import type { ClientSessionEdition, ClientSessionSink } from "../../edition/client-edition.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import { reportRejection } from "../../jsonrpc/promise-like.ts";
import type { AvailableCommand, ContentBlock, Meta, SessionConfigOption } from "../../model/content.ts";
import type { Entry, EntryBody } from "../../model/entry.ts";
import type { Outcome, Update } from "../../model/update.ts";
import { AnnouncedParts } from "./announced-parts.ts";
import type { ClientLink } from "./client-link.ts";
import type { ClientSession, Prompt } from "./client-session.ts";
import { EntryBacklog } from "./entry-backlog.ts";
import { frozen } from "./frozen.ts";
import { type PromptOptions, SentPrompt } from "./sent-prompt.ts";

interface OpenPrompt {
  readonly number: number;
  readonly prompt: SentPrompt;
  readonly content: readonly ContentBlock[];
  readonly meta: Meta | undefined;
  readonly controller: AbortController;
  messageId: string;
  sent: boolean;
}

export class LiveSession implements ClientSession, ClientSessionSink {
  readonly sessionId: string;
  readonly roots: readonly string[];
  meta: Meta | undefined;
  data: unknown;
  readonly #link: ClientLink;
  readonly #edition: ClientSessionEdition;
  readonly #open: OpenPrompt[] = [];
  readonly #listeners = new Set<(update: Update) => void>();
  readonly #entryListeners = new Set<(entry: Entry) => void>();
  readonly parts = new AnnouncedParts();
  readonly #isStrict: boolean;
  #options: readonly SessionConfigOption[];
  #commands: readonly AvailableCommand[];
  #state: string = "idle";
  /** Until the first listener has had it. */
  #backlog: EntryBacklog | undefined = new EntryBacklog();
  #seq = 0;
  /** Of the message that is being received. */
  #chars = 0;
  #updatesClaimed = false;
  #entriesClaimed = false;
  #number = 0;
  #cancelling = false;
  #ended: Error | undefined;
  #asks = new Set<AbortController>();

  constructor(face: SessionSetup, roots: readonly string[], link: ClientLink, edition: ClientSessionEdition) {
    this.sessionId = face.sessionId;
    this.roots = roots;
    this.#options = face.configOptions;
    this.#commands = face.availableCommands;
    this.#link = link;
    this.#isStrict = link.isStrict;
    this.#edition = edition;
    edition.setOptions(face.configOptions);
    this.#announce(face);
  }

  get cwd(): string {
    return this.roots[0] ?? "";
  }

  get options(): readonly SessionConfigOption[] {
    return this.#options;
  }

  get commands(): readonly AvailableCommand[] {
    return this.#commands;
  }

  get state(): string {
    return this.#state;
  }

  onUpdate(listener: (update: Update) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#updatesClaimed) {
      for (const entry of this.#claim()) if (entry.kind === "update") this.#call(listener, entry.update);
    }
    this.#updatesClaimed = true;
    return () => this.#listeners.delete(listener);
  }

  onEntry(listener: (entry: Entry) => void): () => void {
    this.#entryListeners.add(listener);
    if (!this.#entriesClaimed) for (const entry of this.#claim()) this.#call(listener, entry);
    this.#entriesClaimed = true;
    return () => this.#entryListeners.delete(listener);
  }

  prompt(content: string | readonly ContentBlock[], { meta, keepUpdates }: PromptOptions = {}): Prompt {
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    // before anything is shown as sent
    this.#link.checkPrompt(blocks);
    const number = ++this.#number;
    const entry: OpenPrompt = {
      number,
      prompt: new SentPrompt(() => this.#cancelOne(entry), this.#link.unread, keepUpdates),
      content: blocks,
      meta,
      controller: new AbortController(),
      messageId: "",
      sent: false,
    };
    this.#open.push(entry);
    if (this.#ended !== undefined) this.failed(number, this.#ended);
    else this.#sendNext();
    return entry.prompt;
  }

  cancel(): void {
    this.#withdrawWaiting();
    this.#cancelWork();
  }

  #withdrawWaiting(): void {
    const waiting = this.#open.filter((entry) => !entry.sent);
    for (const entry of waiting) this.#remove(entry, { stopReason: "cancelled" });
  }

  #cancelWork(): void {
    // what is asked until the work has ended is answered cancelled too
    if (this.#open.length > 0 || this.#state !== "idle") this.#cancelling = true;
    if (this.#open.length > 0) this.#edition.cancelled();
    for (const ask of this.#asks) ask.abort();
    void this.#link.notify("session/cancel", { sessionId: this.sessionId });
    // what the agent says of them later replaces it (C26, C27)
    for (const toolCallId of this.parts.openCalls())
      this.update({ sessionUpdate: "tool_call_update", toolCallId, status: "cancelled" });
  }

  async cancelToolCall(toolCallId: string): Promise<void> {
    this.parts.checkToolCall(toolCallId);
    await this.#link.request("tool_call/cancel", { sessionId: this.sessionId, toolCallId });
  }

  async cancelTerminal(terminalId: string): Promise<void> {
    this.parts.checkTerminal(terminalId);
    await this.#link.request("terminal/cancel", { sessionId: this.sessionId, terminalId });
  }

  async setOption(configId: string, value: string | boolean): Promise<void> {
    const option = this.#options.find((each) => each.configId === configId);
    if (option === undefined) {
      const known = this.#options.map((each) => each.configId).join(", ");
      throw new TypeError(`setOption: the session has no option ${configId}; it has: ${known || "none"}`);
    }
    // when the answer is dispatched: a later change that is already here must not be undone
    await this.#link.setOption(this.sessionId, option, value, (options) => {
      const after =
        options === undefined
          ? this.#options.map((each) =>
              each.configId === configId ? ({ ...each, currentValue: value } as typeof each) : each,
            )
          : this.#edition.optionsChanged(options);
      this.#edition.setOptions(after);
      // an agent may answer and say nothing else; whoever shows the session must know
      if (JSON.stringify(after) === JSON.stringify(this.#options)) return;
      this.update({ sessionUpdate: "config_option_update", configOptions: [...after] });
    });
  }

  async setMode(mode: string): Promise<void> {
    const option = this.#options.find((each) => each.category === "mode");
    if (option === undefined) throw new TypeError("setMode: the session has no modes");
    await this.setOption(option.configId, mode);
  }

  close(): Promise<void> {
    this.#withdrawWaiting();
    return this.#link.closeSession(this);
  }

  // ---- what the connection does with it

  receive(update: object, chars: number): void {
    this.#chars = chars;
    this.#edition.receive(update, this);
  }

  async replaying<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#edition.setReplaying(true, this);
    try {
      return await work();
    } finally {
      this.#replayed();
    }
  }

  #replayed(): void {
    this.#edition.setReplaying(false, this);
    if (this.#state === "idle") this.parts.clear();
  }

  setFace(face: SessionSetup): void {
    this.meta = face.meta;
    // an answer that says nothing takes back nothing
    if (face.configOptions.length > 0) {
      this.#options = face.configOptions;
      this.#edition.setOptions(face.configOptions);
    }
    this.#announce(face);
    this.#replayed();
  }

  /** Runs a question; a cancelled one is answered at once, whatever the handler does (C24). */
  async answer<Answer>(
    signal: AbortSignal,
    cancelled: Answer,
    handler: (signal: AbortSignal) => Promise<Answer> | Answer,
  ): Promise<Answer> {
    if (this.#cancelling || signal.aborted) return cancelled;
    const ask = new AbortController();
    this.#asks.add(ask);
    const either = AbortSignal.any([signal, ask.signal]);
    try {
      const aborted = new Promise<Answer>((resolve) => {
        either.addEventListener("abort", () => resolve(cancelled), { once: true });
      });
      return await Promise.race([handler(either), aborted]);
    } finally {
      this.#asks.delete(ask);
    }
  }

  record(body: EntryBody): void {
    const entry: Entry = { seq: ++this.#seq, time: Date.now(), ...body };
    // one kind of listener is here: the other may still join it until something new comes
    if (this.#updatesClaimed || this.#entriesClaimed) this.#backlog = undefined;
    else this.#backlog?.push(entry, this.#chars);
    for (const listener of this.#entryListeners) this.#call(listener, entry);
  }

  connectionEnded(reason: ConnectionError): void {
    this.#ended = reason;
    this.parts.leaveBehind(this);
    // first, so that it is seen by whoever follows a prompt
    this.#edition.interrupted(this);
    for (const { sent, number } of [...this.#open]) {
      // also one that has been answered: nobody is left to say how its work ended
      if (sent) this.#edition.promptFailed(number, reason, this);
      else this.failed(number, reason);
    }
    for (const ask of this.#asks) ask.abort();
  }

  /** Closed or deleted: what the agent left open was cancelled with it. */
  sessionEnded(): void {
    for (const { number } of [...this.#open]) this.outcome(number, { stopReason: "cancelled" });
  }

  // ---- ClientSessionSink

  update(update: Update): void {
    if (this.#isStrict) frozen(update);
    const { sessionUpdate } = update;
    // most updates are text, of which nothing follows for the session
    if (sessionUpdate !== "agent_message_chunk" && sessionUpdate !== "agent_thought_chunk")
      this.#note(update);
    for (const listener of this.#listeners) this.#call(listener, update);
    for (const entry of this.#open) if (entry.sent) entry.prompt.push(update, this.#chars);
    if (this.#entryListeners.size > 0 || this.#backlog !== undefined) this.record({ kind: "update", update });
    else this.#seq++;
    // what we add to a message of the agent costs nothing of what it sent
    this.#chars = 0;
  }

  #note(update: Update): void {
    if (update.sessionUpdate === "state_update") this.#stateChanged(String(update.state));
    else if (update.sessionUpdate === "config_option_update") this.#options = update.configOptions;
    else if (update.sessionUpdate === "available_commands_update") this.#commands = update.availableCommands;
    this.parts.note(update);
  }

  accepted(number: number, messageId: string): void {
    const entry = this.#find(number);
    if (entry === undefined) return;
    entry.messageId = messageId;
    entry.prompt.accept(messageId);
    this.record({ kind: "prompt", messageId, prompt: entry.content });
    // withdrawn too late: the agent had taken it, so the work on it is ended
    if (entry.controller.signal.aborted) this.#cancelWork();
  }

  outcome(number: number, outcome: Outcome): void {
    const entry = this.#find(number);
    if (entry === undefined) return;
    // one that was withdrawn has never been part of the conversation
    if (entry.messageId !== "") this.record({ kind: "outcome", messageId: entry.messageId, outcome });
    this.#remove(entry, outcome);
    this.#sendNext();
  }

  failed(number: number, error: Error): void {
    const entry = this.#find(number);
    if (entry === undefined) return;
    this.#take(entry);
    const { messageId } = entry;
    const refused = error instanceof RequestError ? entry.prompt.refuse(error) : undefined;
    // version 1 answers with the error what version 2 reports as an end: the history has both
    const outcome = refused ?? { stopReason: "_interrupted" };
    if (messageId !== "") this.record({ kind: "outcome", messageId, outcome });
    if (refused === undefined) entry.prompt.fail(error);
    this.#sendNext();
  }

  // ----

  /** What an answer says about a session reaches listeners the way a change of it does. */
  #announce({ configOptions, availableCommands }: SessionSetup): void {
    if (configOptions.length > 0)
      this.update({ sessionUpdate: "config_option_update", configOptions: [...configOptions] });
    if (availableCommands.length > 0)
      this.update({ sessionUpdate: "available_commands_update", availableCommands: [...availableCommands] });
  }

  #sendNext(): void {
    if (!this.#link.isOpen) return;
    for (const entry of this.#open) {
      if (entry.sent) {
        if (!this.#link.pipelinesPrompts) return;
        continue;
      }
      this.#send(entry);
      if (!this.#link.pipelinesPrompts) return;
    }
  }

  #send(entry: OpenPrompt): void {
    entry.sent = true;
    const { number, controller } = entry;
    // the message is shown before anything that the agent says to it
    this.#edition.promptSent(number, entry.content, this);
    this.#link
      .prompt(this.sessionId, entry, controller.signal, (result) =>
        this.#edition.promptAnswered(number, result, this),
      )
      .catch((error: Error) => {
        if (!(error instanceof RequestError)) this.parts.leaveBehind(this);
        this.#edition.promptFailed(number, error, this);
      });
  }

  #stateChanged(state: string): void {
    this.#state = state;
    if (state === "idle" && !this.#open.some((each) => each.sent)) this.#cancelling = false;
  }

  #cancelOne(entry: OpenPrompt): void {
    if (this.#find(entry.number) === undefined) return;
    if (!entry.sent) return this.#remove(entry, { stopReason: "cancelled" });
    // not yet part of the conversation: it alone is withdrawn; otherwise the work on it is ended
    if (entry.messageId === "") entry.controller.abort();
    else this.#cancelWork();
  }

  #remove(entry: OpenPrompt, outcome: Outcome): void {
    this.#take(entry);
    entry.prompt.end(outcome);
  }

  #take(entry: OpenPrompt): void {
    const at = this.#open.indexOf(entry);
    if (at >= 0) this.#open.splice(at, 1);
    if (!this.#open.some((each) => each.sent)) this.#cancelling = false;
  }

  #find(number: number): OpenPrompt | undefined {
    return this.#open.find((entry) => entry.number === number);
  }

  #claim(): readonly Entry[] {
    const lost = this.#backlog?.takeLost() ?? 0;
    if (lost > 0) {
      const { sessionId } = this;
      this.#link.log("warn", "updates were lost before anybody listened", { sessionId, lost });
    }
    return this.#backlog?.entries ?? [];
  }

  #call<Value>(listener: (value: Value) => unknown, value: Value): void {
    try {
      const returned: unknown = listener(value);
      if (returned !== undefined) reportRejection(returned, (error) => this.#listenerFailed(error));
    } catch (error) {
      this.#listenerFailed(error);
    }
  }

  #listenerFailed(error: unknown): void {
    this.#link.log("error", "a listener threw", { sessionId: this.sessionId, error });
  }
}
