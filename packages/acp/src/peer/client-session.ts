// One session at the client: the source of everything that happens in it, in and outside turns.

import type { SessionFace } from "../edition/agent-ops.ts";
import type { ClientSessionEdition, ClientSessionSink } from "../edition/client-edition.ts";
import { type ConnectionError, RequestError } from "../jsonrpc/errors.ts";
import type { AvailableCommand, ContentBlock, Meta, SessionConfigOption } from "../model/content.ts";
import type { EntryBody } from "../model/entry.ts";
import type { Outcome, Update } from "../model/update.ts";
import type { ClientLink } from "./client-link.ts";
import { Prompt } from "./prompt.ts";

const backlogUpdates = 1_024;
const backlogChars = 8 * 1024 * 1024;

interface OpenPrompt {
  readonly number: number;
  readonly prompt: Prompt;
  readonly content: readonly ContentBlock[];
  readonly meta: Meta | undefined;
  readonly controller: AbortController;
  messageId: string;
  sent: boolean;
}

export class ClientSession implements ClientSessionSink {
  readonly sessionId: string;
  /** The directories that the agent was given: the working directory first. */
  readonly roots: readonly string[];
  /** `_meta` of the answer that opened it. */
  meta: Meta | undefined;
  /** Yours. */
  data: unknown;
  readonly #link: ClientLink;
  readonly #edition: ClientSessionEdition;
  readonly #open: OpenPrompt[] = [];
  readonly #listeners = new Set<(update: Update) => void>();
  readonly #entryListeners = new Set<(entry: EntryBody) => void>();
  #options: readonly SessionConfigOption[];
  #commands: readonly AvailableCommand[];
  #state: string = "idle";
  #backlog: Update[] | undefined = [];
  #backlogChars = 0;
  #backlogSizes: number[] = [];
  /** Of the message that is being received. */
  #chars = 0;
  #lost = 0;
  #updatesClaimed = false;
  #entriesClaimed = false;
  #number = 0;
  #cancelling = false;
  #ended: Error | undefined;
  #asks = new Set<AbortController>();

  /** @internal */
  constructor(face: SessionFace, roots: readonly string[], link: ClientLink, edition: ClientSessionEdition) {
    this.sessionId = face.sessionId;
    this.roots = roots;
    this.#options = face.configOptions;
    this.#commands = face.availableCommands;
    this.#link = link;
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

  /** "idle", "running", "requires_action", or what else the agent says; anything but "idle" is busy. */
  get state(): string {
    return this.#state;
  }

  /** Sees every update, in order. What came before the first listener is kept for it, within bounds. */
  onUpdate(listener: (update: Update) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#updatesClaimed) for (const update of this.#claim()) this.#call(listener, update);
    this.#updatesClaimed = true;
    return () => this.#listeners.delete(listener);
  }

  /** The same as records for a view or a history: prompts, updates, questions, answers, outcomes. */
  onEntry(listener: (entry: EntryBody) => void): () => void {
    this.#entryListeners.add(listener);
    if (!this.#entriesClaimed) {
      for (const update of this.#claim()) this.#call(listener, { kind: "update" as const, update });
    }
    this.#entriesClaimed = true;
    return () => this.#entryListeners.delete(listener);
  }

  /** Sends a prompt. On version 1 prompts wait for one another here, whatever the agent would do with two. */
  prompt(content: string | readonly ContentBlock[], options: { readonly meta?: Meta } = {}): Prompt {
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    if (blocks.length === 0) throw new TypeError("prompt: got no content, a prompt needs at least one block");
    const number = ++this.#number;
    const entry: OpenPrompt = {
      number,
      prompt: new Prompt(() => this.#cancelOne(entry)),
      content: blocks,
      meta: options.meta,
      controller: new AbortController(),
      messageId: "",
      sent: false,
    };
    this.#open.push(entry);
    if (this.#ended !== undefined) this.failed(number, this.#ended);
    else this.#sendNext();
    return entry.prompt;
  }

  /** Ends what the agent is doing. Open prompts and questions end as cancelled; late updates are still shown. */
  cancel(): void {
    this.#withdrawWaiting();
    this.#cancelWork();
  }

  #withdrawWaiting(): void {
    const waiting = this.#open.filter((entry) => !entry.sent);
    for (const entry of waiting) this.#remove(entry, { stopReason: "cancelled" });
  }

  #cancelWork(): void {
    if (this.#open.length > 0) {
      this.#cancelling = true;
      this.#edition.cancelled();
    }
    for (const ask of this.#asks) ask.abort();
    void this.#link.notify("session/cancel", { sessionId: this.sessionId });
  }

  /** Chooses a value of an option. */
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

  /** Chooses a mode by its id. */
  setMode(mode: string): Promise<void> {
    const option = this.#options.find((each) => each.category === "mode");
    if (option === undefined) throw new TypeError("setMode: the session has no modes");
    return this.setOption(option.configId, mode);
  }

  close(): Promise<void> {
    this.#withdrawWaiting();
    return this.#link.closeSession(this);
  }

  // ---- what the connection does with it

  /** @internal */
  receive(update: object, chars: number): void {
    this.#chars = chars;
    this.#edition.receive(update, this);
  }

  /** @internal */
  async replaying<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#edition.setReplaying(true);
    try {
      return await work();
    } finally {
      this.#edition.setReplaying(false);
    }
  }

  /** @internal */
  setFace(face: SessionFace): void {
    this.meta = face.meta;
    // an answer that says nothing takes back nothing
    if (face.configOptions.length > 0) {
      this.#options = face.configOptions;
      this.#edition.setOptions(face.configOptions);
    }
    this.#announce(face);
    this.#edition.setReplaying(false);
  }

  /** @internal Runs a question; a cancelled one is answered at once, whatever the handler does (C24). */
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

  /** @internal */
  record(entry: EntryBody): void {
    for (const listener of this.#entryListeners) this.#call(listener, entry);
  }

  /** @internal */
  connectionEnded(reason: ConnectionError): void {
    this.#ended = reason;
    for (const { sent, number } of [...this.#open]) {
      // also one that has been answered: nobody is left to say how its work ended
      if (sent) this.#edition.promptFailed(number, reason, this);
      else this.failed(number, reason);
    }
    for (const ask of this.#asks) ask.abort();
  }

  /** @internal Closed or deleted: what the agent left open was cancelled with it. */
  sessionEnded(): void {
    for (const { number } of [...this.#open]) this.outcome(number, { stopReason: "cancelled" });
  }

  // ---- ClientSessionSink

  /** @internal */
  update(update: Update): void {
    if (update.sessionUpdate === "state_update") this.#state = String(update.state);
    else if (update.sessionUpdate === "config_option_update") this.#options = update.configOptions;
    else if (update.sessionUpdate === "available_commands_update") this.#commands = update.availableCommands;
    // one kind of listener is here: the other may still join it until something new comes
    if (this.#updatesClaimed || this.#entriesClaimed) this.#backlog = undefined;
    else if (this.#backlog !== undefined) this.#keep(this.#backlog, update);
    for (const listener of this.#listeners) this.#call(listener, update);
    for (const entry of this.#open) if (entry.sent) entry.prompt.push(update);
    if (this.#entryListeners.size > 0) this.record({ kind: "update", update });
  }

  /** @internal */
  accepted(number: number, messageId: string): void {
    const entry = this.#find(number);
    if (entry === undefined) return;
    entry.messageId = messageId;
    entry.prompt.accept(messageId);
    this.record({ kind: "prompt", messageId, prompt: entry.content });
    // withdrawn too late: the agent had taken it, so the work on it is ended
    if (entry.controller.signal.aborted) this.#cancelWork();
  }

  /** @internal */
  outcome(number: number, outcome: Outcome): void {
    const entry = this.#find(number);
    if (entry === undefined) return;
    // one that was withdrawn has never been part of the conversation
    if (entry.messageId !== "") this.record({ kind: "outcome", messageId: entry.messageId, outcome });
    this.#remove(entry, outcome);
    this.#sendNext();
  }

  /** @internal */
  failed(number: number, error: Error): void {
    const entry = this.#find(number);
    if (entry === undefined) return;
    this.#take(entry);
    if (error instanceof RequestError) entry.prompt.refuse(error);
    else entry.prompt.fail(error);
    this.#sendNext();
  }

  // ----

  /** What an answer says about a session reaches listeners the way a change of it does. */
  #announce({ configOptions, availableCommands }: SessionFace): void {
    if (configOptions.length > 0) {
      this.update({ sessionUpdate: "config_option_update", configOptions: [...configOptions] });
    }
    if (availableCommands.length > 0) {
      this.update({ sessionUpdate: "available_commands_update", availableCommands: [...availableCommands] });
    }
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
      .catch((error: Error) => this.#edition.promptFailed(number, error, this));
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

  #claim(): readonly Update[] {
    if (this.#lost > 0)
      this.#link.log("warn", "updates were lost before anybody listened", { lost: this.#lost });
    this.#lost = 0;
    return this.#backlog ?? [];
  }

  #keep(backlog: Update[], update: Update): void {
    backlog.push(update);
    this.#backlogSizes.push(this.#chars);
    this.#backlogChars += this.#chars;
    this.#chars = 0;
    if (backlog.length <= backlogUpdates && this.#backlogChars <= backlogChars) return;
    // the oldest half goes at once, so that each update costs the same; how many is said to the first listener
    let drop = backlog.length > backlogUpdates ? backlogUpdates / 2 : 0;
    let chars = this.#backlogChars;
    for (let i = 0; i < drop; i++) chars -= this.#backlogSizes[i] ?? 0;
    while (chars > backlogChars && drop < backlog.length) chars -= this.#backlogSizes[drop++] ?? 0;
    backlog.splice(0, drop);
    this.#backlogSizes.splice(0, drop);
    this.#backlogChars = chars;
    this.#lost += drop;
  }

  #call<Value>(listener: (value: Value) => void, value: Value): void {
    try {
      listener(value);
    } catch (error) {
      this.#link.log("error", "a listener threw", { sessionId: this.sessionId, error });
    }
  }
}
