// A session at the client: the API of the app, and the sink of the edition.

import { bindMethods, optional } from "../../base/objects.ts";
import { OpenQuestions } from "../../base/open-questions.ts";
import { metaKeys } from "../../base/option-keys.gen.ts";
import type { SessionSetup } from "../../edition/agent-edition.ts";
import type { ClientSessionEdition, ClientSessionSink } from "../../edition/client-edition.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { PendingState } from "../../jsonrpc/pending-requests.ts";
import type { AvailableCommand, ContentBlock, Meta, SessionConfigOption } from "../../model/content.ts";
import type { JsonValue } from "../../model/custom-types.ts";
import type { Entry } from "../../model/entry.ts";
import type { PromptResult, SessionUpdate } from "../../model/update.ts";
import { isTaken, takenError } from "../base/taken-session.ts";
import { checkCall } from "./call-arguments.ts";
import type { CallHooks } from "./client-wire.ts";
import { announced, OfferedOptions } from "./offered-options.ts";
import { PromptExchange } from "./prompt-exchange.ts";
import { AskRecords } from "./session/ask-records.ts";
import {
  type CallOptions,
  type CallResult,
  type ClientSession,
  clientSessionMethods,
  type MetaOptions,
  type Prompt,
  type PromptOptions,
  type SessionEnd,
  type SessionListener,
  type SessionState,
  type TitleResult,
} from "./session/client-session.ts";
import {
  checkSignal,
  type HandleState,
  type OpenPrompt,
  OpenPrompts,
  PromptHandle,
} from "./session/prompt-handle.ts";
import { frozen, SessionEvents } from "./session/session-events.ts";
import { SessionLife } from "./session/session-life.ts";
import type { OpenSessionSettings } from "./session/session-settings.ts";
import type { ConnectedSessionState } from "./session/session-snapshot.ts";
import { ToolCallTracker } from "./session/tool-call-tracker.ts";
import type { SessionRequests } from "./session-requests.ts";

export class ConnectedSession implements ClientSession, ClientSessionSink {
  readonly sessionId: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly toolCalls: ToolCallTracker;
  readonly questions = new OpenQuestions<undefined>();
  readonly asks = new AskRecords((body) => this.events.record(body, this.#chars));
  _meta: Meta | undefined;
  data: unknown;
  /** It is being loaded or resumed. */
  isReplaying = false;
  readonly events: SessionEvents;
  readonly #requests: SessionRequests;
  readonly #edition: ClientSessionEdition;
  readonly #settings: OpenSessionSettings;
  /** Oldest first, also those that wait. */
  readonly #prompts = new OpenPrompts();
  readonly exchange: PromptExchange;
  readonly #options: OfferedOptions;
  #commands: readonly AvailableCommand[];
  #state: SessionState = "idle";
  /** Characters of the message that is being received. */
  #chars = 0;
  readonly #life = new SessionLife();
  readonly closed: Promise<SessionEnd> = this.#life.closed;

  constructor(
    setup: SessionSetup & Pick<ClientSession, "roots">,
    requests: SessionRequests,
    edition: ClientSessionEdition,
    settings: OpenSessionSettings,
    state?: ConnectedSessionState,
  ) {
    const { sessionId, configOptions, roots } = setup;
    this.sessionId = sessionId;
    this.cwd = roots[0] ?? "";
    this.roots = roots;
    this.#options = new OfferedOptions(edition, configOptions, settings.listsOptions);
    this.#commands = setup.availableCommands;
    this.#requests = requests;
    this.#settings = settings;
    this.toolCalls = new ToolCallTracker({ keepsDetails: settings.keepsToolCalls }, state?.toolCalls);
    this.events = new SessionEvents(
      (level, message, details) => settings.log(level, message, { sessionId, ...details }),
      state?.events,
    );
    this.#edition = edition;
    this.exchange = new PromptExchange(this, { requests, edition, settings, prompts: this.#prompts });
    if (state === undefined) edition.setOptions(configOptions);
    else this.#restore(state);
    for (const update of state === undefined ? announced(setup) : []) this.update(update);
  }

  get configOptions(): readonly SessionConfigOption[] {
    return this.#options.list;
  }

  get availableCommands(): readonly AvailableCommand[] {
    return this.#commands;
  }

  get state(): SessionState {
    return this.#state;
  }

  get prompts(): readonly Prompt[] {
    return this.#prompts.all.map(({ handle }) => handle);
  }

  onUpdate(listener: SessionListener<SessionUpdate>): () => void {
    return this.events.onUpdate(listener);
  }

  onEntry(listener: SessionListener<Entry>): () => void {
    return this.events.onEntry(listener);
  }

  prompt(content: string | readonly ContentBlock[], options: PromptOptions = {}): Prompt {
    return this.#begin("prompt", content, options, (prompt) => this.exchange.add(prompt));
  }

  steer(content: string | readonly ContentBlock[], options: PromptOptions = {}): Prompt {
    if (!this.canSteer && this.exchange.isBusy)
      throw new TypeError(
        "steer: this agent takes no messages while it works; session.prompt() waits for the end",
      );
    return this.#begin("steer", content, options, (prompt) => this.exchange.steer(prompt));
  }

  get canSteer(): boolean {
    return this.#requests.canSteer;
  }

  #begin(
    method: string,
    content: string | readonly ContentBlock[],
    options: PromptOptions,
    start: (prompt: OpenPrompt) => void,
  ): Prompt {
    this.#checkCall(method, options);
    if (content === "") throw new TypeError(`${method}: expected text or content blocks, got an empty text`);
    const { signal, _meta: meta } = options;
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    // before anything is shown as sent
    this.#requests.checkPrompt(blocks);
    checkSignal("prompt", signal);
    const handle = this.#handle(this.#prompts.next, { key: options.key });
    const prompt = this.#prompts.add({ handle, content: blocks, meta });
    if (signal) handle.cancelOn(signal);
    if (signal?.aborted) return handle;
    const { connectionError } = this.#life;
    if (connectionError === undefined) start(prompt);
    else this.failed(prompt.number, connectionError);
    return handle;
  }

  #handle(number: number, state: HandleState): PromptHandle {
    return new PromptHandle(() => this.#cancelPrompt(number), this.#settings.unread, state);
  }

  cancel(options: MetaOptions = {}): void {
    checkCall("cancel", options, metaKeys);
    // the agent has ended the work of a closed session
    if (this.#life.isClosed) return;
    this.exchange.withdrawWaiting();
    this.#cancelWork(options._meta);
  }

  async cancelToolCall(toolCallId: string, options: CallOptions = {}): Promise<CallResult> {
    this.#checkCall("cancelToolCall", options);
    this.toolCalls.checkToolCall(toolCallId);
    return this.#requests.call("tool_call/cancel", { sessionId: this.sessionId, toolCallId }, options);
  }

  async cancelTerminal(terminalId: string, options: CallOptions = {}): Promise<CallResult> {
    this.#checkCall("cancelTerminal", options);
    this.toolCalls.checkTerminal(terminalId);
    return this.#requests.call("terminal/cancel", { sessionId: this.sessionId, terminalId }, options);
  }

  async setConfigOption(
    configId: string,
    value: JsonValue,
    given: CallOptions & CallHooks = {},
  ): Promise<CallResult> {
    this.#checkCall("setConfigOption", given);
    const option = this.#options.find(configId);
    // when the answer is dispatched: a later change that is already here must not be undone
    return this.#requests.setOption(this.sessionId, option, { value, ...given }, (answered) => {
      const after = this.#options.changed(configId, value, answered);
      // an agent may answer and send no update; listeners must know
      if (after !== undefined)
        this.update({ sessionUpdate: "config_option_update", configOptions: [...after] });
    });
  }

  async setTitle(title: string, options: CallOptions = {}): Promise<TitleResult> {
    this.#checkCall("setTitle", options);
    return this.#requests.pass("session/set_title", { sessionId: this.sessionId, title }, options);
  }

  async setMode(modeId: string, options: CallOptions = {}): Promise<CallResult> {
    this.#checkCall("setMode", options);
    return this.setConfigOption(this.#options.mode.configId, modeId, options);
  }

  close(options: CallOptions & CallHooks = {}): Promise<CallResult> {
    checkCall("close", options);
    const { signal, _meta } = options;
    if (this.#life.isClosed) return Promise.resolve({});
    return this.#life.closeOnce(signal, async () => {
      this.exchange.withdrawWaiting();
      const closed = () => this.#settings.closed(this.sessionId);
      const result = await this.#requests.close(this.sessionId, options, closed);
      if (result === undefined) this.cancel(optional({ _meta }));
      closed();
      return result ?? {};
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // a session whose connection has ended cannot be closed, and need not be
    if (this.#life.connectionError === undefined) await this.close();
  }

  // ---- called by the connection

  receive(update: object, chars: number): void {
    this.#chars = chars;
    this.#edition.receive(update, this);
  }

  /** `hasBegun`: another connection has begun with it. */
  async replaying<Result>(work: () => Promise<Result>, hasBegun: boolean): Promise<Result> {
    this.isReplaying = true;
    if (!hasBegun) this.#edition.setReplaying(true, this);
    return work().finally(() => this.replayed());
  }

  /** Applies the answer of an open, load or resume. */
  opened(setup: SessionSetup): void {
    this._meta = setup._meta;
    this.#options.opened(setup.configOptions);
    for (const update of announced(setup)) this.update(update);
    this.replayed();
  }

  connectionEnded(reason: ConnectionError): void {
    this.#life.disconnected(reason);
    this.toolCalls.failOpen(this);
    // before the prompts end, so that their iterators see it
    this.#edition.interrupted(this);
    this.exchange.fail(reason);
    this.questions.abort();
    this.events.end();
  }

  /** Closed or deleted: what the agent left open was cancelled with it. */
  ended(): void {
    this.#life.end();
    this.questions.abort();
    for (const { number } of this.#prompts.all) this.outcome(number, { stopReason: "cancelled" });
    this.events.end();
  }

  /** `requestOf`: the request that a prompt waits for. */
  snapshot(requestOf: (prompt: OpenPrompt) => PendingState | undefined): ConnectedSessionState {
    const { sessionId, roots, _meta, configOptions, availableCommands, state, isReplaying } = this;
    return {
      ...{ sessionId, roots, configOptions, availableCommands, state, isReplaying, ...optional({ _meta }) },
      isRefusing: this.questions.isRefusing,
      edition: this.#edition.state,
      toolCalls: this.toolCalls.state,
      events: this.events.state,
      asks: this.asks.state,
      prompts: this.#prompts.state(requestOf),
      queue: this.exchange.queued,
    };
  }

  #restore({ _meta, state, isReplaying, isRefusing, asks, prompts }: ConnectedSessionState): void {
    this._meta = _meta;
    this.isReplaying = isReplaying;
    this.#state = state;
    if (isRefusing) this.questions.refuse();
    this.asks.restore(asks);
    this.#prompts.restore(prompts, (prompt) => this.#handle(prompt.number, prompt));
  }

  // ---- ClientSessionSink

  update(update: SessionUpdate): void {
    if (this.#settings.isStrict) frozen(update);
    const { sessionUpdate } = update;
    // most updates are text, which changes nothing else
    if (sessionUpdate !== "agent_message_chunk" && sessionUpdate !== "agent_thought_chunk")
      this.#apply(update);
    this.events.update(update);
    for (const prompt of this.#prompts.all) if (prompt.isSent) prompt.handle.push(update, this.#chars);
    this.events.recordUpdate(update, this.#chars);
    // updates that we add ourselves cost nothing of what the agent sent
    this.#chars = 0;
  }

  accepted(number: number, messageId: string): void {
    const prompt = this.#prompts.find(number);
    if (prompt === undefined) return;
    prompt.messageId = messageId;
    prompt.handle.accept(messageId);
    this.events.record({ kind: "prompt", messageId, prompt: prompt.content }, this.#chars);
    // withdrawn too late: the agent had taken it, so the work on it is ended
    if (prompt.withdrawal.signal.aborted) this.#cancelWork();
  }

  outcome(number: number, outcome: PromptResult): void {
    const prompt = this.#prompts.find(number);
    if (prompt === undefined) return;
    this.#recordOutcome(prompt, outcome);
    this.#remove(prompt);
    prompt.handle.end(outcome);
  }

  failed(number: number, error: Error): void {
    const prompt = this.#prompts.find(number);
    if (prompt === undefined) return;
    this.#remove(prompt);
    const refused = error instanceof RequestError ? prompt.handle.refuse(error) : undefined;
    // version 1 answers with the error what version 2 reports as an end: the history has both
    this.#recordOutcome(prompt, refused ?? { stopReason: "_interrupted" });
    if (refused === undefined) prompt.handle.fail(error);
  }

  #checkCall(method: string, options: object): void {
    this.#life.check(method);
    checkCall(method, options);
  }

  #apply(update: SessionUpdate): void {
    // the policy has already decided about the updates of a replayed history
    if (!this.isReplaying) this.#settings.policy.observe(this, update);
    // its tag may be one of another version
    if ("unknown" in update) return;
    if (update.sessionUpdate === "state_update") {
      this.#state = update.state as SessionState; // the decoder has checked it: a custom one begins with "_"
      if (isTaken(update)) for (const { number } of this.#prompts.all) this.failed(number, takenError());
      if (this.#state === "idle" && !this.#prompts.hasSent) this.questions.accept();
    } else if (update.sessionUpdate === "config_option_update") this.#options.list = update.configOptions;
    else if (update.sessionUpdate === "available_commands_update") this.#commands = update.availableCommands;
    this.toolCalls.note(update, this.#chars);
  }

  replayed(): void {
    this.isReplaying = false;
    this.#edition.setReplaying(false, this);
    if (this.#state === "idle") this.toolCalls.clear();
  }

  #cancelPrompt(number: number): void {
    const prompt = this.#prompts.find(number);
    if (prompt === undefined) return;
    if (!prompt.isSent) this.outcome(prompt.number, { stopReason: "cancelled" });
    // not yet part of the conversation: it alone is withdrawn; otherwise the work on it is ended
    else if (prompt.messageId === undefined) prompt.withdrawal.abort();
    else this.#cancelWork();
  }

  #cancelWork(meta?: Meta): void {
    // questions that come before the work has ended are answered as cancelled too
    if (this.#prompts.all.length > 0 || this.#state !== "idle") this.questions.refuse();
    if (this.#prompts.all.length > 0) this.#edition.cancelled();
    this.questions.abort();
    this.#settings.policy.cancel(this);
    this.#requests.cancel(this.sessionId, meta);
    // what the agent reports of them later replaces it (C26, C27)
    for (const toolCallId of this.toolCalls.openCalls())
      this.update({ sessionUpdate: "tool_call_update", toolCallId, status: "cancelled" });
  }

  #recordOutcome({ messageId }: OpenPrompt, outcome: PromptResult): void {
    // a withdrawn prompt has never been part of the conversation
    if (messageId !== undefined)
      this.events.record({ kind: "result", messageId, result: outcome }, this.#chars);
  }

  #remove(prompt: OpenPrompt): void {
    this.#prompts.remove(prompt);
    this.exchange.withdraw(prompt);
    prompt.ended.resolve(undefined);
    if (!this.#prompts.hasSent) this.questions.accept();
  }
}

bindMethods(ConnectedSession, clientSessionMethods);
